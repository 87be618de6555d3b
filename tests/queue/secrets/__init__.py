"""Tests of encrypted payloads."""
