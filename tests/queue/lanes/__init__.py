"""Lanes: where scans begin, while enqueuers and ticks change them at the same time."""
