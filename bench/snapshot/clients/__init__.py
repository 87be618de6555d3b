"""Clients that work at a steady rate. Those of the peers run in the environment of the peers."""
