"""Tests of database roles."""
