"""What all pages share: the session with its journal, the estimates, the search; takes messages and sends answers.

Everything here runs in one thread, that of the server's loop, but ``_estimate`` and what the search tells, which come
from threads of their own and hand over through ``post``.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, assert_never, cast, get_args

from dse.base.errors import DseError, FormatError, OptionError
from dse.estimate.stopping import EstimateStopped
from dse.flows.setting import Setting
from dse.formats.mapping_text import mapping_text, read_mapping_text
from dse.formats.xcf_write import write_xcf
from dse.model.design_point import DesignPoint
from dse.report.page.document import network_view
from dse.studio import answers
from dse.studio.answers import Answer, answer_of
from dse.studio.design import Design
from dse.studio.edits import Surroundings
from dse.studio.estimation import Estimation, feasibility
from dse.studio.following import Followed, Follower
from dse.studio.journal import Journal, Kept
from dse.studio.latest import Latest
from dse.studio.messages import (
    Change,
    Command,
    Save,
    Share,
    StartSearch,
    StopSearch,
    TakeBest,
    message_of,
    object_of,
)
from dse.studio.searching import Found, SearchFromHere
from dse.studio.session import Session
from dse.studio.sharing import Shared, write_shared
from dse.studio.views import Asked, Views


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """How a desk reaches others: ``send`` answers all pages, ``post`` hands a call of a thread to that of the desk."""

    send: Callable[[Answer], None]
    post: Callable[[Callable[[], None]], None]


class Desk:
    """The design that all pages show, and what is done with it. Close it after use."""

    def __init__(self, setting: Setting, engine: str, folder: Path, outside: Outside) -> None:
        self.setting = setting
        self._engine = engine
        self._folder = folder
        self._outside = outside
        self._around = Surroundings(topology=setting.trace.topology, platform=setting.platform)
        self._check = feasibility(setting)
        self._estimation = Estimation(setting, engine)
        self._views = Views(self._estimation)
        self._latest = Latest(self._estimate, self._estimation.stop)
        self._hello = answer_of(answers.hello(setting, network_view(setting.trace), folder))
        self._last: Answer | None = None
        """The last answer ``estimate``."""
        self._search: SearchFromHere | None = None
        self._searched = Found(state="ended")
        self._followed: Followed | None = None
        self._follower: Follower | None = None
        self._journal: Journal | None = None
        self.session = Session(Design(point=DesignPoint(partitions=(), capacities=())), self._around)

    def open(self, journal: Journal, kept: Kept) -> None:
        """Take up what a journal holds. Raises ``FormatError`` where it does not fit, though it says so."""
        self._journal = journal
        start = read_mapping_text(kept.start, self._around.topology, self._around.platform)
        self.session = Session(Design(point=start), self._around)
        try:
            for change in kept.changes:
                self.session.change(change, lambda _: None)
            self._check(self.session.design)
        except DseError as error:
            raise FormatError(
                f"the journal '{journal.path}' does not lead to a design: {error.first_error.message}",
                expected="remove it to begin anew",
            ) from error
        self._ask()

    def follow(self, store: Path, identity: Mapping[str, str]) -> None:
        """Show what a search of another process writes into a store."""
        self._follower = Follower(store, dict(identity), self._heard)

    def close(self) -> None:
        """End all threads."""
        if self._follower is not None:
            self._follower.close()
        if self._search is not None:
            self._search.stop(seconds=2.0)
        self._latest.close()

    # Pages

    def greeting(self) -> list[Answer]:
        """Return what a page is told that has just come."""
        found = [self._hello, answer_of(self._state())]
        if self._search is not None:
            found.append(self._search_answer())
        if self._followed is not None:
            found.append(self._explore_answer(self._followed))
        return found if self._last is None else [*found, self._last]

    def receive(self, text: str) -> Answer | None:
        """Do what a page asks for; returns an answer to that page alone: an error, or where a file was written."""
        try:
            entries = object_of(text)
            return self._do(entries)
        except DseError as error:
            return answer_of(answers.error(error))

    def _do(self, entries: Mapping[str, Any]) -> Answer | None:
        message = message_of(entries, self._around.topology)
        if isinstance(message, get_args(Command)):
            return self._command(cast("Command", message))
        self._change(cast("Change", message), entries)
        return None

    def _change(self, change: Change, entries: Mapping[str, Any]) -> None:
        """Make a change, keep it and show it. Raises ``DseError``; one that cannot be kept is made all the same."""
        if not self.session.change(change, self._check):
            return
        try:
            if self._journal is not None:
                self._journal.add(entries)
        finally:
            self._outside.send(answer_of(self._state()))
            self._ask()

    def take(self, point: DesignPoint) -> None:
        """Make a point the design."""
        entries = {"type": "mapping", "mapping": mapping_text(point, self._around.topology, None)}
        self._change(cast("Change", message_of(entries, self._around.topology)), entries)

    def _command(self, command: Command) -> Answer | None:
        match command:
            case StartSearch():
                self._start_search(command.seconds)
            case StopSearch():
                if self._search is not None:
                    self._search.stop()
            case TakeBest():
                self._take_best(command.found_by)
            case Save():
                return answer_of(answers.saved(self._save(), "xcf"))
            case Share():
                self._share()
            case _:
                assert_never(command)
        return None

    def _state(self) -> dict[str, object]:
        return answers.state(self.session, self._around.topology, self._around.platform)

    # Estimates

    def _ask(self) -> None:
        session = self.session
        asked = Asked(
            revision=session.revision,
            design=session.design,
            compared=session.compared,
            pinned=session.pinned is not None,
        )
        self._latest.ask(asked)

    def _estimate(self, asked: Asked) -> None:
        """Estimate a design, in the thread of the estimates."""
        try:
            answer = answer_of(self._views.answer(asked))
        except EstimateStopped:
            return
        self._outside.post(partial(self._estimated, answer))

    def _estimated(self, answer: Answer) -> None:
        self._last = answer
        self._outside.send(answer)

    # Searches

    def _start_search(self, seconds: int) -> None:
        if self._search is not None and self._search.running:
            raise OptionError("a search is under way", expected="stop it first")
        self._search = SearchFromHere(
            self.setting, self.session.design, engine=self._engine, seconds=seconds, told=self._told
        )
        self._searched = Found(state="searching")
        self._outside.send(self._search_answer())
        self._search.start()

    def _told(self, found: Found) -> None:
        """Hear of the search, in its thread."""
        self._outside.post(partial(self._searching, found))

    def _searching(self, found: Found) -> None:
        self._searched = found
        self._outside.send(self._search_answer())

    def _search_answer(self) -> Answer:
        return answer_of(answers.search(self._searched, self._around.topology, self._around.platform))

    def _take_best(self, found_by: str) -> None:
        followed = self._followed
        if found_by == "search":
            point = self._searched.point
        else:
            point = followed.point if followed is not None and followed.same else None
        if point is None:
            raise OptionError("no search of this problem has found a mapping yet", expected="start one")
        self.take(point)

    def _heard(self, followed: Followed) -> None:
        """Hear of a search of another process, in the thread that looks at it."""
        self._outside.post(partial(self._following, followed))

    def _following(self, followed: Followed) -> None:
        self._followed = followed
        self._outside.send(self._explore_answer(followed))

    def _explore_answer(self, followed: Followed) -> Answer:
        return answer_of(answers.explore(followed, self._around.topology, self._around.platform))

    # Files

    def _save(self) -> Path:
        """Write the design as a mapping file under a name that is free. Raises ``FormatError``."""
        path = self._free("xcf")
        topology, platform = self._around.topology, self._around.platform
        write_xcf(self.session.design.point, topology, str(path), platform=platform)
        return path

    def _free(self, suffix: str) -> Path:
        """Return the first name of a numbered file that is free."""
        return next(p for n in count(1) if not (p := self._folder / f"studio-{n:02d}.{suffix}").exists())

    def _share(self) -> None:
        """Write the design, and the one that is pinned, as a page; all pages are told when it is there."""
        designs = [Shared(label="the design", design=self.session.design)]
        if self.session.pinned is not None:
            designs.append(Shared(label="the pinned design", design=self.session.pinned))
        path = self._free("html")

        def write() -> None:
            try:
                write_shared(path, self.setting, self._engine, designs)
                answer = answers.saved(path, "html")
            except DseError as error:
                answer = answers.error(error)
            self._outside.post(partial(self._outside.send, answer_of(answer)))

        threading.Thread(target=write, name="dse-studio-share", daemon=True).start()
