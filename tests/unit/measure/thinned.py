"""Records in which some visits are left out, as if they had been timed in turns."""

from dataclasses import replace

import numpy as np

from dse.measure.samples import Samples, ThreadSamples


def thinned(samples: Samples, every: int, rng: np.random.Generator) -> Samples:
    """Return the records of whole runs, each actor on one thread, with one visit of ``every`` in the mean."""
    return replace(samples, every=every, threads=tuple(_thinned(t, every, rng) for t in samples.threads))


def _thinned(thread: ThreadSamples, every: int, rng: np.random.Generator) -> ThreadSamples:
    visits = thread.visits
    chosen = rng.random(len(visits.actor)) < 1 / (2 * every)
    kept = chosen | np.append(False, chosen[:-1])
    first = np.zeros(len(visits.actor), dtype=np.uint64)
    for actor in set(visits.actor.tolist()):
        mine = visits.actor == actor
        first[mine] = np.cumsum(visits.firings[mine]) - visits.firings[mine]
    follows = np.append(False, kept[:-1])
    columns = {
        name: getattr(visits, name)[kept] for name in ("actor", "start", "end", "firings", "ending", "before", "vain")
    }
    return replace(
        thread,
        visits=replace(
            visits, **columns, first=first[kept], follows=follows[kept], apart=(visits.apart | ~follows)[kept]
        ),
    )
