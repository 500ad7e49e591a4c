"""Numerics on arrays: numpy in, numpy out."""
