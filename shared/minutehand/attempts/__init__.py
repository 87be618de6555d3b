"""Attempts: run the jobs of a chunk, each with its lease, time limit and outcome; async ones together."""
