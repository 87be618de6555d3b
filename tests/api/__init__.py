"""Tests of the API function: requests and API Gateway events, answered from a real Postgres."""
