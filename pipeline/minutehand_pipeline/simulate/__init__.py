"""Simulate recorded or synthetic arrivals under different policies."""
