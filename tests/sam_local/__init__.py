"""Tests of `sam local`: the built functions in real containers, without an AWS account."""
