"""Tests of the stack: the template, and the resources that CloudFormation creates from it."""
