"""Search from here: a search that begins at the design of the page and tells the best that it has so far.

It searches over mappings with the policies, FIFO sizes, clocks, modes and scaled costs of the design; actors that are
fixed stay on their unit. Nothing of it is kept: what is taken from it becomes an edit of the session.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from dse.base.cores import usable_cores
from dse.base.errors import DseError, OptionError
from dse.estimate.engine import compile_behind, make_engine
from dse.estimate.stopping import EstimateStopped
from dse.explore.distribution.workers import ThreadEstimator
from dse.explore.evaluator import Budget, Cutting, Evaluator, Progress
from dse.explore.mapping_bound import MappingBound
from dse.explore.methods.choose import EXHAUSTIVE_POINTS
from dse.explore.search import run_search
from dse.explore.space.build import build_space
from dse.explore.space.clocks import ClockDomain
from dse.explore.space.locate import candidate_at
from dse.explore.space.merged import merged_space
from dse.explore.space.space import Space, SpaceOptions
from dse.flows.defaults import cpu_only_actors
from dse.flows.search.method import KEPT, make_method, search_context
from dse.flows.search.study import space_bounds
from dse.flows.setting import Setting
from dse.model.design_point import POLICIES, DesignPoint
from dse.model.estimate import TickUnit
from dse.model.study import Evaluation
from dse.studio.design import Design
from dse.studio.estimation import changed_setting

SEED = 1
SearchState: TypeAlias = Literal["searching", "proven", "ended", "stopped", "failed"]
"""``proven``: no mapping of the space is better than the best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How far a search is. ``best``: None where nothing that completes was found; makespans in ticks.

    ``start``: the makespan of the design that it began at, None in a deadlock. ``bound``: no mapping beats it, 0 where
    none is known. ``message``: what ended it, where that was an error.
    """

    state: SearchState
    evaluations: int = 0
    seconds: float = 0.0
    start: int | None = None
    best: int | None = None
    bound: int = 0
    tick_unit: TickUnit = "cycles"
    point: DesignPoint | None = None
    message: str = ""


class _Stopped(BaseException):
    """The search is to end. No ``Exception``: nothing between here and the thread takes it for a failure."""


class SearchFromHere:
    """One search, in a thread of its own; ``told`` hears of it from there, the last time when it is over."""

    def __init__(
        self, setting: Setting, design: Design, *, engine: str, seconds: int, told: Callable[[Found], None]
    ) -> None:
        self._setting = setting
        self._name = engine
        self._design = design
        self._seconds = seconds
        self._told = told
        self._stop = threading.Event()
        self.found = Found(state="searching")
        self._thread = threading.Thread(target=self._run, name="dse-studio-search", daemon=True)

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, seconds: float = 0.0) -> None:
        """Have it end soon, and wait for that at most so long."""
        self._stop.set()
        if seconds:
            self._thread.join(seconds)

    def _run(self) -> None:
        try:
            state = self._search()
            self._tell(replace(self.found, state=state))
        except (_Stopped, EstimateStopped):
            self._tell(replace(self.found, state="stopped"))
        except DseError as error:
            first = error.first_error
            message = f"{first.message}; {first.expected}" if first.expected else first.message
            self._tell(replace(self.found, state="failed", message=message))

    def _tell(self, found: Found) -> None:
        self.found = found
        self._told(found)

    def _search(self) -> SearchState:
        """Search; returns how it ended. Raises ``_Stopped``, or ``DseError`` where there is nothing to search."""
        setting = changed_setting(self._setting, self._design)
        space = space_around(self._design, setting)
        bound = MappingBound(setting.tables, space)
        least = space_bounds(setting, space, bound)[0].makespan
        start = candidate_at(space, self._design.point)
        context = search_context(setting, space, SEED, KEPT, least, bound)
        context = replace(context, start=() if start is None else (start,))
        self._check()
        method = make_method("exhaustive" if space.size <= EXHAUSTIVE_POINTS else "iterated-search", context, None)
        engine = make_engine(self._name, setting.tables)
        compile_behind(engine.name)
        estimator = ThreadEstimator(engine, max(1, len(usable_cores()) - 1), setting.trace.n_firings)
        store = _Memory(self._check)
        evaluator = Evaluator(
            estimator,
            budget=Budget(seconds=float(self._seconds)),
            store=store,
            clock=time.perf_counter,
            progress=lambda progress: self._tell(_found(progress, store)),
            cutting=Cutting(keep=KEPT),
            least=least,
        )
        try:
            outcome = run_search(method, evaluator, self._design.point)
        finally:
            estimator.close()
        return "proven" if outcome.stop == "complete" and method.exact else "ended"

    def _check(self) -> None:
        if self._stop.is_set():
            raise _Stopped


class _Memory:
    """Keeps the best and the first evaluation of a search, and lets it end where that is asked for."""

    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check
        self.first: Evaluation | None = None
        self.best: Evaluation | None = None

    def known(self) -> dict[str, Evaluation]:
        """Return nothing: each search begins anew."""
        return {}

    def add(self, evaluation: Evaluation) -> None:
        """Take an evaluation."""
        self._check()
        self.first = self.first or evaluation
        if evaluation.deadlock or evaluation.cut:
            return
        if self.best is None or evaluation.makespan < self.best.makespan:
            self.best = evaluation

    def commit(self) -> None:
        """Nothing is kept."""


def _found(progress: Progress, store: _Memory) -> Found:
    best, first = store.best, store.first
    return Found(
        state="searching",
        evaluations=progress.evaluations,
        seconds=progress.seconds,
        start=None if first is None or first.deadlock else first.makespan,
        best=None if best is None else best.makespan,
        bound=progress.bound,
        tick_unit=progress.tick_unit,
        point=None if best is None else best.point,
    )


def space_around(design: Design, setting: Setting) -> Space:
    """Return the space of all mappings with the settings of a design.

    Raises:
        OptionError: the design has what no search chooses: a static order, a partition of several cores.
        InfeasibleDesign: there is no such mapping.
    """
    point, topology = design.point, setting.trace.topology
    _refuse_several_cores(point)
    policies = tuple(policy for policy in POLICIES if policy in {p.policy for p in point.partitions})
    unit_of = {actor: p.unit for p in point.partitions for actor in p.actors}
    clocks = tuple(ClockDomain(units=(unit,), clocks_mhz=(clock,)) for unit, clock in design.clocks)
    options = SpaceOptions(
        pins=tuple((topology.actors[actor].name, unit_of[actor]) for actor in sorted(design.fixed)),
        policies=policies,
        policy_per_partition=len(policies) > 1,
        capacities=(point.capacities,),
        release=point.release,
        transfers=point.transfers,
        clocks=clocks,
    )
    cpu_only = cpu_only_actors(setting.tables, setting.network).actors
    return merged_space(build_space(topology, setting.platform, options, cpu_only=cpu_only), setting.tables)


def _refuse_several_cores(point: DesignPoint) -> None:
    many = next((p.name for p in point.partitions if p.cores != 1), None)
    if many is not None:
        raise OptionError(f"partition '{many}' has several cores", expected="a search gives each partition one")
