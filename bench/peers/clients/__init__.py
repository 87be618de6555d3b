"""Clients of the peers. They run in the peers' environment, and import nothing of ours but the program."""
