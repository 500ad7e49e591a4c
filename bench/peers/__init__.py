"""Programs calibrant is measured against; they run in environments of their own."""
