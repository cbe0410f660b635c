"""Tests of dse/program."""
