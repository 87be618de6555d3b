"""Tests of `sam local`: the built functions in real containers, as somebody without an account runs them."""
