"""Encryption: payloads, and optionally results, are stored encrypted."""
