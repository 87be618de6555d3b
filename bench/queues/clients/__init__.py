"""Clients that the harness runs as programs: ours, and bare statements as the limit."""
