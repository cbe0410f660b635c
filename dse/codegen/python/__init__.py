"""Python: actors that the execution in this process runs."""
