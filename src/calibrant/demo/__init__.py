"""A workspace to look at: one study for each built-in rubric, with items and raters made up."""
