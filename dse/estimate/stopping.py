"""How an estimate ends that nobody waits for any more."""


class EstimateStopped(Exception):
    """Another thread stopped the engine (``Engine.stop``): there is no estimate."""
