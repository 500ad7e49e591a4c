"""Where studies are kept: one store written in SQL, on SQLite and on PostgreSQL."""
