"""Tests of events, hooks and sinks."""
