"""The benchmark: what calibrant does, beside what one would use without it. See ``run.py``."""
