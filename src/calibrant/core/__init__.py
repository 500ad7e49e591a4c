"""The vocabulary of evaluation: rubric, item, answer, rating, score, verdict.

Standard library and pydantic only. No file, network, clock or randomness is touched here.
"""
