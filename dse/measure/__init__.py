"""Measures programs that run natively: samples to weights, calibration, and how well estimates agree with clocks."""
