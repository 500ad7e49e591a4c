"""Loops that work: raters that are programs take their assignments, rate and hand in."""
