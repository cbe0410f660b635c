"""The GPU that is meant where none is named."""

DEFAULT_DEVICE = "jetson-tk1"
