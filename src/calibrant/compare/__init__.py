"""Ratings side by side: tables of ratings, who is compared with whom, and targets."""
