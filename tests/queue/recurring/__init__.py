"""Tests of recurring jobs."""
