"""Encryption of payloads and results."""
