"""Attacks: each module makes hostile inputs, runs dse on them and says where it did not behave."""
