"""Run everything on one machine: Postgres, the three functions and a receiver of what they deliver."""
