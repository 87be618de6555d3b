"""Requests, responses and their examples, one module per resource."""
