"""What the outside must offer: protocols only."""
