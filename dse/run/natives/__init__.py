"""Natives of RVC-CAL programs emulated in Python: one file a family, bound by declaring unit and name."""
