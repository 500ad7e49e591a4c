"""Pages, one subject a file."""
