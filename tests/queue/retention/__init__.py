"""Tests of retention."""
