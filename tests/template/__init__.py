"""Tests of the stack: the template as it is written, and what CloudFormation is given of it."""
