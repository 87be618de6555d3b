"""Ends of jobs that no worker ends: their worker died, or they have expired."""
