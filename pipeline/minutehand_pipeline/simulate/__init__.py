"""Simulate: arrivals, recorded or made up, are replayed against policies, to say what each would have done."""
