"""Benchmarks: speed relative to a limit that is measured in the same run."""
