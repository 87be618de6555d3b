"""Tests of minutehand.testing: they run pytest on the projects of users."""
