"""The JSON API, version 1: everything that the pages do."""
