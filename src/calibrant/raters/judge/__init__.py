"""Judges: language models as raters, with a card, a strict reader and no benefit of the doubt."""
