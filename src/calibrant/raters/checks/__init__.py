"""Checks: deterministic measurements of items, with the words they rest on.

A check measures, quotes and suggests. It never scores; it decides alone only where the rubric
states a precondition.
"""
