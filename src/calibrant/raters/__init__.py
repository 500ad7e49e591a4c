"""Those who rate: today checks, which are code."""
