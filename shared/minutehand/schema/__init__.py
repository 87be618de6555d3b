"""The schema: migrations of tables, the current text of each database function, and roles.

migrations/     tables, types and indexes; forward only, applied once, in the order of their numbers
functions/      one current text of each database function; a file is applied again when it changes
roles.sql       roles, grants and policies; applied again when anything changed
ledger.sql      what precedes every run: the lock, and the tables that record what was applied
before.sql      what precedes the steps of a run: remembers which functions exist
replaced.sql    what follows the functions: drops those that no file defines any more
schema.sql      the dump of a migrated database, for readers; `make schema` writes it
"""
