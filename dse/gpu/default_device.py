"""The GPU and the model that are meant where none is named."""

DEFAULT_DEVICE = "jetson-tk1"
DEFAULT_MODEL = "hierarchy"
