"""Enqueuing: the statements that enqueue one job or many."""
