"""dse: find the best split of a dataflow program over CPU cores and a GPU without building each one."""

__version__ = "0.1.0"
