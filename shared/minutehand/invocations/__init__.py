"""Invocations: the jobs of one invocation of a worker."""
