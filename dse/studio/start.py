"""From what a user names to a page that is served: the setting, the folder, the mapping to begin with, the server."""

import asyncio
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from dse.base.errors import OptionError
from dse.flows.capacities import read_capacities, search_capacities
from dse.flows.estimate import one_core
from dse.flows.manifest import platform_digest, weights_digest
from dse.flows.mappings import read_mapping
from dse.flows.measured import measuring, output_folder
from dse.flows.options import ExploreOptions, ProblemOptions
from dse.flows.search.store import STORE_NAME
from dse.flows.setting import Setting, load_setting
from dse.flows.study_options import STUDY_FILE, read_study_options
from dse.formats.mapping_text import mapping_text
from dse.formats.study_file import glimpse_study
from dse.model.design_point import DesignPoint
from dse.studio import guard
from dse.studio.assets import read_assets
from dse.studio.desk import Desk, Outside
from dse.studio.journal import Kept, open_journal
from dse.studio.server import ADDRESS, Listening, Pages, bound_socket, serving
from dse.studio.until_signal import serve_until_signal


@dataclass(frozen=True, slots=True, kw_only=True)
class StudioOptions:
    """What a page is opened on. ``mapping``: to begin with, None: as it was, else the best that is known.

    ``port`` 0: any that is free. ``trust``: of a study file, as ``dse study run`` takes it.
    """

    problem: ProblemOptions
    mapping: str | None = None
    port: int = 0
    out: Path | None = None
    trust: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A page that can be opened. ``address`` holds the token; ``notes``: what users should hear."""

    address: str
    folder: Path
    notes: tuple[str, ...]
    setting: Setting


def search_options(options: StudioOptions) -> ExploreOptions:
    """Return the options of the search that the page belongs to: those of a study file, or of a program.

    Raises:
        OptionError: a folder without a study file. FormatError: the study file is wrong.
    """
    path = Path(options.problem.program)
    plain = ExploreOptions(problem=options.problem, out=options.out)
    if path.is_dir():
        path = path / STUDY_FILE
        if not path.is_file():
            raise OptionError(
                f"there is no '{path}'",
                expected="name a folder that `dse explore` writes, or a network",
            )
    if path.suffix.lower() not in (".yaml", ".yml"):
        return plain
    if replace(options.problem, program="") != ProblemOptions(program=""):
        raise OptionError(
            "a study says itself what it is of", expected="leave out the options of the problem, or name its network"
        )
    found = read_study_options(str(path), trust=options.trust)
    return replace(found, out=options.out or path.parent)


def load(options: StudioOptions, stage: Callable[[str], None]) -> tuple[ExploreOptions, Setting]:
    """Return the options of the search and the setting, with the costs that a search in the folder has.

    Raises: as ``search_options`` and ``load_setting``.
    """
    search = search_options(options)
    return search, load_setting(search.problem, stage, None, measuring(search))


def first_mapping(options: StudioOptions, folder: Path, setting: Setting) -> DesignPoint:
    """Return the mapping to begin with: as given, else the best of the study in the folder, else all on one core.

    Raises: as ``read_mapping``.
    """
    topology, platform = setting.trace.topology, setting.platform
    if options.mapping is not None:
        usual = search_capacities(setting).tokens
        return read_mapping(options.mapping, topology, platform, usual=lambda: usual).point
    best = _best_known(folder / STORE_NAME, setting)
    if best is not None:
        return best
    graph = setting.network is None
    capacities = search_capacities(setting) if graph else read_capacities("", setting)
    return one_core(setting, capacities.tokens)


def _best_known(store: Path, setting: Setting) -> DesignPoint | None:
    """Return the best point of the study in the folder, None where there is none of this problem."""
    stored = glimpse_study(store)  # past the lock of a search that is writing it
    if stored is None or stored.identity.get("trace") != setting.trace.digest:
        return None
    alive = [e for e in stored.evaluations if not e.deadlock and not e.cut]
    return min(alive, key=lambda e: (e.makespan, e.ordinal)).point if alive else None


def identity_of(setting: Setting) -> Mapping[str, str]:
    """Return what has to be equal for a journal to hold."""
    return {
        "trace": setting.trace.digest,
        "weights": weights_digest(setting.problem.weights),
        "platform": platform_digest(setting.platform),
    }


def serve(options: StudioOptions, opened: Callable[[Opened], None], stage: Callable[[str], None]) -> None:
    """Serve the page until an interrupt; ``opened`` is called once, when it can be opened.

    Raises:
        OptionError: the port is taken, the folder cannot be written. Else as ``load`` and ``first_mapping``.
    """
    with _listening(options.port) as bound:  # first: it costs nothing to find that the port is taken
        search, setting = load(options, stage)
        folder = output_folder(search, setting.trace.topology.name)
        serve_until_signal(_Service(options, search.problem.engine, setting, folder).run(bound, opened))


def serve_setting(options: StudioOptions, setting: Setting, folder: Path, opened: Callable[[Opened], None]) -> None:
    """Serve the page of a setting that is loaded already; as ``serve``."""
    with _listening(options.port) as bound:
        serve_until_signal(_Service(options, options.problem.engine, setting, folder).run(bound, opened))


_Bound: TypeAlias = tuple[Sequence[socket.socket], int]


@contextmanager
def _listening(port: int) -> Iterator[_Bound]:
    """Yield sockets and their port; they are closed behind it."""
    sockets, found = bound_socket(port)
    try:
        yield sockets, found
    finally:
        for one in sockets:
            one.close()


class _Service:
    """A desk and its server, in one loop."""

    def __init__(self, options: StudioOptions, engine: str, setting: Setting, folder: Path) -> None:
        self._options = options
        self._engine = engine
        self._setting = setting
        self._folder = folder
        self._first = first_mapping(options, folder, setting)

    async def run(self, bound: _Bound, opened: Callable[[Opened], None]) -> None:
        """Serve until this is cancelled."""
        (sockets, port), loop, pages = bound, asyncio.get_running_loop(), Pages()

        def post(call: Callable[[], None]) -> None:
            with suppress(RuntimeError):  # the loop has ended: nobody is there to be told
                loop.call_soon_threadsafe(call)

        desk = Desk(self._setting, self._engine, self._folder, Outside(send=pages.send, post=post))
        try:
            kept = self._journal(desk)
            desk.follow(self._folder / STORE_NAME, identity_of(self._setting))
            token = guard.new_token()
            listening = Listening(
                port=port, token=token, assets=read_assets(), greeting=desk.greeting, receive=desk.receive
            )
            async with serving(sockets, listening, pages):
                opened(
                    Opened(
                        address=f"http://{ADDRESS}:{port}/#{token}",
                        folder=self._folder,
                        notes=tuple(filter(None, (*self._setting.notes, kept.note))),
                        setting=self._setting,
                    )
                )
                await asyncio.Event().wait()
        finally:
            desk.close()

    def _journal(self, desk: Desk) -> Kept:
        """Have the desk take up what was on the page before, and the mapping that is asked for."""
        topology = self._setting.trace.topology
        start = mapping_text(self._first, topology, None)
        journal, kept = open_journal(self._folder, identity_of(self._setting), start, topology)
        desk.open(journal, kept)
        if self._options.mapping is not None:
            desk.take(self._first)
        return kept
