"""Tests of minutehand.testing: projects of users, whose tests are run by a pytest of their own."""
