"""The database schema: its versions and the statements that create it."""
