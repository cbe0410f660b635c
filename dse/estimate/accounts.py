"""Accounts that every engine adds up in the same way."""

from collections.abc import Sequence

from dse.model.estimate import ActorAccount, PartitionAccount


def partition_account(actors: Sequence[ActorAccount], cores: int, makespan: int) -> PartitionAccount:
    """Return the core time of a partition: that of its actors, and the rest."""
    scheduling, reading = sum(a.scheduling for a in actors), sum(a.reading for a in actors)
    processing, writing = sum(a.processing for a in actors), sum(a.writing for a in actors)
    link_waiting = sum(a.link_waiting for a in actors)
    return core_time((scheduling, reading, processing, writing, link_waiting), cores, makespan)


def core_time(spent: Sequence[int], cores: int, makespan: int) -> PartitionAccount:
    """Return the core time of a partition whose actors spent together so much, in the order of the fields."""
    scheduling, reading, processing, writing, link_waiting = spent
    return PartitionAccount(
        scheduling=scheduling,
        reading=reading,
        processing=processing,
        writing=writing,
        link_waiting=link_waiting,
        unoccupied=cores * makespan - sum(spent),
        cores=cores,
    )
