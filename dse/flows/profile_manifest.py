"""What a measured weight set says of itself: on what, when, how it was measured, and what it could not tell apart."""

import datetime
from collections.abc import Iterator, Sequence
from pathlib import Path

import dse
from dse.base.digests import file_digest
from dse.base.escaping import encodable
from dse.flows.bench import Bench
from dse.measure.action_costs import ActorCosts
from dse.measure.arrival import Waits
from dse.measure.counter import CounterFacts
from dse.measure.looks import Looks
from dse.measure.machine import MachineMoment, State, cpu_model, trips_text, work_text
from dse.measure.outliers import RULE
from dse.measure.profiling import ProfileRuns
from dse.model.trace import Topology, TraceActor
from dse.model.weights import Visits, WeightTable
from dse.run.options import PLAIN_RUN, RunOptions

Pairs = tuple[tuple[str, str], ...]


def profile_manifest(
    bench: Bench, run: RunOptions, found: ProfileRuns, where: str, moments: tuple[MachineMoment, MachineMoment]
) -> Pairs:
    """Return the pairs of a profile; ``where``: in which configuration it was made, in words."""
    return (
        (
            "how",
            f"measured {where}, {len(found.timed) + len(found.visits)} timed and {len(found.plain)} plain runs merged",
        ),
        *conditions(bench, run, (run.input,), moments),
        *_quality(found),
        *_counted(found),
        *_stolen(moments),
        *_not_told_apart(bench.topology, found),
    )


def conditions(
    bench: Bench, run: RunOptions, inputs: Sequence[str | None], moments: tuple[MachineMoment, MachineMoment]
) -> Iterator[tuple[str, str]]:
    """Yield on what, when and by which program something was measured; ``run``: how, but for its ``inputs``."""
    facts = bench.facts
    yield "where", f"{cpu_model()}, {len(bench.cores)} cores"
    yield "when", datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    yield "tool", f"dse {dse.__version__}"
    yield "network", bench.network.name
    for number, path in enumerate(inputs, start=1):
        if path is not None:
            key = "input" if len(inputs) == 1 else f"input {number}"
            yield key, encodable(Path(path).name)
            if Path(path).is_file():
                yield f"{key} digest", file_digest(path)
    if options := _options_text(run):
        yield "options", options
    yield "compiler", bench.version.text
    yield "flags", " ".join(bench.flags)
    yield "counter", f"{facts.kind.name} at {facts.mhz:.3f} MHz, steps of {facts.step:g}, {facts.cost:.1f} a reading"
    for name, moment in zip(("at the start", "at the end"), moments, strict=True):
        yield f"machine {name}", _moment_text(moment)


def _options_text(run: RunOptions) -> str:
    """Return how a run differs from a plain one, as options of ``dse run``; empty where it does not."""
    told = (
        ("-l", run.loops, PLAIN_RUN.loops),
        ("-f", run.frames, PLAIN_RUN.frames),
        ("-s", run.fifo_tokens, PLAIN_RUN.fifo_tokens),
        ("--max-firings", run.max_firings, PLAIN_RUN.max_firings),
    )
    changed = [f"{name} {value}" for name, value, usual in told if value != usual]
    return " ".join([*changed, *(f"--native {encodable(key)}={encodable(target)}" for key, target in run.natives)])


def _moment_text(moment: MachineMoment) -> str:
    words = [] if moment.load is None else [f"load {moment.load:.2f}"]
    words += [] if moment.stolen_s is None else [f"{moment.stolen_s:.1f} s stolen since boot"]
    words += [f"{min(moment.mhz):.0f} to {max(moment.mhz):.0f} MHz"] if moment.mhz else []
    return ", ".join(words) or "not known"


def _quality(found: ProfileRuns) -> Iterator[tuple[str, str]]:
    profile, outliers = found.profile, found.profile.outliers
    yield "closure", f"{100 * profile.closure.error:+.2f} % of the plain run before scaling"
    yield "readings", f"{profile.facts.cost:.1f} counts each in the program"
    yield "plain run", f"{profile.closure.plain / profile.facts.hz * 1e3:.3f} ms"
    yield "outliers", f"{outliers.left_out} of {outliers.samples} samples; {RULE}"
    vain = sum(v.visits for v in profile.in_vain)
    yield (
        "visits in vain",
        f"{vain:.0f} a run, {sum(v.visits * v.steps for v in profile.in_vain) / max(vain, 1):.1f} counts each",
    )
    switches = [run.record.switches for run in (*found.timed, *found.visits) if run.record.switches is not None]
    if switches:
        yield "involuntary switches", f"{sum(switches) / len(switches):.1f} a run"
    if found.trips:
        yield "round trips", trips_text(found.trips)
    if work := work_text(found.trips):
        yield "rounds of work", work


def _counted(found: ProfileRuns) -> Iterator[tuple[str, str]]:
    """Yield what the processor counted in the plain runs, in the mean."""
    counts = [record.counts for record in found.plain if record.counts is not None]
    if not counts:
        yield "cycles and instructions", "not allowed here: the system lets no program count them"
        return
    cycles, instructions = (sum(values) for values in zip(*((c.cycles, c.instructions) for c in counts), strict=True))
    yield "cycles", f"{cycles / len(counts):,.0f} a plain run"
    yield "instructions", f"{instructions / len(counts):,.0f} a plain run"
    if instructions:
        yield "cycles per instruction", f"{cycles / instructions:.3f}"


def _stolen(moments: tuple[MachineMoment, MachineMoment]) -> Iterator[tuple[str, str]]:
    """Yield the time that other virtual machines got meanwhile, where the system tells it."""
    before, after = (moment.stolen_s for moment in moments)
    if before is not None and after is not None:
        yield "stolen time", f"{after - before:.2f} s of all cores together"


def _not_told_apart(topology: Topology, found: ProfileRuns) -> Iterator[tuple[str, str]]:
    """Yield what was timed singly, which actions share a value, and where the cost of a visit is in the actions."""
    singly = [f"{topology.actors[a].name}.{topology.actors[a].actions[x].name}" for a, x in found.singly]
    yield "timed singly", ", ".join(singly) or "none: no action is long against the counter"
    shared = [text for costs in found.profile.actors for text in _shared_texts(topology.actors[costs.actor], costs)]
    if shared:
        yield "one value for", "; ".join(shared)
    contained = [topology.actors[costs.actor].name for costs in found.profile.actors if costs.visit_contained]
    if contained:
        yield "visits contained in actions", ", ".join(contained)


def _shared_texts(actor: TraceActor, costs: ActorCosts) -> list[str]:
    """Return the groups of actions of an actor that share a value, in words."""
    return [f"{actor.name}: {' = '.join(actor.actions[x].name for x in group)}" for group in costs.shared]


def state_pairs(state: State, runs: int, mappings: int, unexplained: float) -> Pairs:
    """Return the pairs of the crossing costs for one state of the machine."""
    return (
        ("core distance", state),
        ("crossing", f"calibrated by {runs} runs of {mappings} mappings; {100 * unexplained:+.1f} % of busy time left"),
    )


def visit_pairs(table: WeightTable, waits: Waits | None, looks: Looks, facts: CounterFacts) -> Pairs:
    """Return the pairs of the visits and arrivals in calibration runs."""

    def ns(counts: float) -> str:
        return f"{1e9 * counts / facts.hz:.0f}"

    visits = Visits() if table.arrival is None or table.arrival.visits is None else table.arrival.visits
    waited = "too few in the calibration runs: waking is taken to be free"
    if waits is not None:
        low, high = map(ns, waits.quartiles)
        waking = f"waking takes {ns(float(visits.wake_cycles))} ns"
        waited = f"{ns(waits.mean)} ns, quartiles {low} and {high}, of {waits.count}; {waking}"
    entries = [float(counts) for counts in visits.entries.values()]
    entered = f"{ns(min(entries))} to {ns(max(entries))} ns a visit at {len(entries)} ends" if entries else "all free"
    only = "" if looks.glance is None else f" ({ns(looks.glance)} of an actor that only writes to other cores)"
    between = f"{ns(looks.between)} ns between visits, of {looks.gaps} pairs of them"
    looked = f"{ns(looks.look)} ns a call in vain{only}, {between}"
    return (*round_trip_pairs(table), ("waits", waited), ("looks", looked), ("entries", entered))


def round_trip_pairs(table: WeightTable) -> Pairs:
    """Return the pair of an arrival by the round trips of a cache line; nothing where the table has none."""
    arrival = table.arrival
    if arrival is None or arrival.frequency_mhz is None:
        return ()
    return (("arrival", f"{float(1000 * arrival.cycles / arrival.frequency_mhz):.0f} ns, half the median round trip"),)


MICRO_BENCHMARK = (("crossing", "by the micro-benchmark of the probe: no run on two cores has calibrated it"),)
NO_CROSSING = (("crossing", "not measured: transfers between cores cost what those inside one do"),)
IN_PLACE = (("crossing", "contained in the actions: this is a profile of one configuration"),)
