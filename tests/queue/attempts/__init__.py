"""Tests of attempts and their outcomes."""
