"""The GPU and the model that are meant where none is named."""

DEFAULT_DEVICE = "jetson-tk1"
DEFAULT_MODEL = "hierarchy"
ACTOR_MODELS = ("hierarchy", "cgpredict")
"""The kernel cost models that price firings, too: those that know what one warp waits for."""
