"""The readable engine: DEVS atomic models over SimPy."""
