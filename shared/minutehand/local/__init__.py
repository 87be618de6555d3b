"""Run everything on one machine: Postgres, the functions and a receiver of what they deliver."""
