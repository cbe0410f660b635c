"""The arguments of each verb, without what the verb needs to run: ``--help`` imports nothing else."""
