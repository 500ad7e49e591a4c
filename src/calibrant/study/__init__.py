"""The story of a study, one verb a file: rules in between the records and the store."""
