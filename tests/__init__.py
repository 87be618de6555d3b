"""Tests on real servers: Postgres from the wheel and from Debian, directly and through PgBouncer."""
