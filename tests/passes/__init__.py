"""Expectation tests of passes."""
