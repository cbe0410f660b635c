"""Traces of TURNUS (.trace, gzip .tracez): streaming import and export; formats.md, section Trace.

A step is one firing with its tokens and accessed variables; a dependency stands after its target. Import keeps what
the project's trace keeps: the actions of each actor in the order of their firing numbers, one rate for each port and
action, whether the scheduling of an actor depends on its FSM, and the accessed variables. The edges themselves are not
kept: they are derived again (``dse.analyse.dependencies``). Neither direction holds the steps of the whole trace.
"""

import gzip
import re
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, cast

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from dse.base.diagnostics import Gatherer
from dse.base.errors import FormatError
from dse.base.escaping import markup
from dse.base.files import whole_file
from dse.base.limits import limits, raise_it
from dse.base.source import file_span
from dse.formats.firing_order import firing_order
from dse.formats.turnus_net import unknown_name
from dse.formats.xml_reading import gathered_error, refuse_unwritable, topology_names
from dse.formats.xml_source import local_name
from dse.model.dependencies import DEPENDENCY_KINDS, Dependencies
from dse.model.trace import AccessTable, Topology, Trace, TraceAction, TraceActor, make_trace

_MOST_ERRORS = 20
_MOST_SHAPES = 100_000
_MOST_PARTS = 2_000_000
"""Elements and attributes of all shapes of steps that are kept, at most; further ones are understood each time."""
_MOST_NAMES = 1 << 20
"""Names of variables in all access signatures together, at most."""
_PIECE_BYTES = 1 << 16
_KINDS = ("fsm", "tokens", "variable", "port", "guard", "scheduler", "merged", "unknown")
_GZIP = b"\x1f\x8b"
_Signature = tuple[frozenset[str], frozenset[str], frozenset[str]]


class _TooManyErrors(Exception):
    """Enough errors were gathered."""


# Import ---------------------------------------------------------------------------------------------------------------


def is_turnus_trace(path: str) -> bool:
    """Return whether a file begins like a trace of TURNUS: compressed, or with the root element ``trace``."""
    with Path(path).open("rb") as file:
        head = file.read(4096)
    root = re.search(rb"<([A-Za-z_][\w:.-]*)", head)  # the first tag that is no declaration and no comment
    return head.startswith(_GZIP) or (root is not None and root[1] == b"trace")


def read_turnus_trace(path: str, topology: Topology, made_by: tuple[tuple[str, str], ...] = ()) -> Trace:
    """Return the trace of a ``.trace`` or ``.tracez`` file of the network whose model is ``topology``.

    Raises:
        FormatError: with the first errors of the file, each with its line.
    """
    importer = _Importer(path=path, topology=topology)
    try:
        with Path(path).open("rb") as raw:
            compressed = raw.peek(2)[:2] == _GZIP
            if not compressed:
                importer.read(raw)
            else:
                with gzip.open(raw) as unpacked:
                    importer.read(unpacked)
    except _TooManyErrors:
        pass
    except (OSError, EOFError, ValueError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        importer.gather.error(
            f"cannot read this file: {reason}", file_span(path, 0), "expected a .trace or .tracez file"
        )
    if importer.gather.errors:
        raise gathered_error(importer.gather)
    trace = importer.trace(made_by)
    if importer.gather.errors:
        raise gathered_error(importer.gather)
    return trace


@dataclass(slots=True)
class _ActorSteps:
    """The firings of one actor as they come."""

    actor: TraceActor
    actions: dict[str, int]
    inputs: dict[str, int]
    outputs: dict[str, int]
    ids: "array[int]" = field(default_factory=lambda: array("H"))
    numbers: "array[int]" = field(default_factory=lambda: array("q"))
    rates: dict[int, tuple[tuple[int, ...], tuple[int, ...], int]] = field(default_factory=dict)
    """action -> (reads, writes, line of the first step)"""
    signatures: dict[_Signature, int] = field(default_factory=dict)
    signature_ids: "array[int]" = field(default_factory=lambda: array("H"))
    fsm: bool = False

    @property
    def accesses_variables(self) -> bool:
        """Whether a step reads or writes a state variable."""
        return any(signature[1] or signature[2] for signature in self.signatures)

    @classmethod
    def of(cls, actor: TraceActor) -> "_ActorSteps":
        """Return the empty record of an actor."""
        return cls(
            actor=actor,
            actions={action.name: i for i, action in enumerate(actor.actions)},
            inputs={name: i for i, name in enumerate(actor.inputs)},
            outputs={name: i for i, name in enumerate(actor.outputs)},
        )


@dataclass(slots=True)
class _Importer:
    """Reads one file step by step."""

    path: str
    topology: Topology
    gather: Gatherer = field(default_factory=Gatherer)
    actors: dict[str, _ActorSteps] = field(init=False)
    last_number: int = -1
    in_order: bool = True
    shapes: dict[tuple[object, ...], tuple[_ActorSteps, int, int]] = field(default_factory=dict)
    """What the steps met so far mean: actor, action, access signature."""
    parts: int = 0
    """Elements and attributes in the keys of ``shapes``."""
    names: int = 0
    """Names of variables in the signatures of all actors."""
    highest_reference: tuple[int, int] = (-1, 0)
    """The highest firing number that a dependency names, and its line."""

    def __post_init__(self) -> None:
        self.actors = {actor.name: _ActorSteps.of(actor) for actor in self.topology.actors}

    def read(self, file: "IO[bytes] | gzip.GzipFile") -> None:
        """Read the document in pieces; memory holds what is kept of it and one piece."""
        parser = etree.XMLPullParser(
            ("end",),
            tag=("step", "dependency"),  # children come with them; everything else needs no call
            remove_comments=True,
            remove_pis=True,
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,  # the length of the file is free; only single texts and the depth are bounded
        )
        unread, most = 0, limits().step_bytes
        try:
            while piece := file.read(_PIECE_BYTES):
                parser.feed(piece)
                unread = 0 if self._understood(parser) else unread + len(piece)
                if unread > most:
                    message = f"{unread >> 10} kB of it hold no complete step or dependency"
                    self._error(message, 0, f"expected a list of them; {raise_it('step-bytes', most)}")
                    return
            root = parser.close()
            if self.last_number < 0:
                self._check_root(root)
        except etree.XMLSyntaxError as error:
            line, column = error.position
            message = f"not well-formed XML: {' '.join(str(error.msg).split())}"
            self._error(message, max(1, line or 1), "expected a complete trace", column=max(1, column or 1))

    def _understood(self, parser: "etree.XMLPullParser") -> bool:
        """Read the steps and dependencies that are complete by now and forget them; return whether there was any."""
        found = False
        for _, read in parser.read_events():
            element = cast("etree._Element", read)
            parent = element.getparent()
            if parent is None or parent.getparent() is not None:
                continue
            found = True
            if self.last_number < 0:
                self._check_root(parent)
            if element.tag == "step":
                self._step(element)
            else:
                self._dependency(element)
            while (other := element.getprevious()) is not None:  # elements that nobody asked for
                parent.remove(other)
            parent.remove(element)  # later ones may be parsed already: only this one goes
        return found

    def _check_root(self, root: etree._Element | None) -> None:
        if root is not None and local_name(root) != "trace":
            expected = "expected 'trace': this is no TURNUS trace"
            self._error(f"the root element is '{local_name(root)}'", _line(root), expected)
            raise _TooManyErrors

    def _step(self, element: etree._Element) -> None:
        number = self._number(element, "firing")
        # Steps repeat: apart from its number, a step is understood once.
        shape = (element.get("actor"), element.get("action"), *[(c.tag, *c.attrib.items()) for c in element])
        known = self.shapes.get(shape)
        if known is None:
            known = self._understand(element)
            if known is None:
                return
            if len(self.shapes) < _MOST_SHAPES and self.parts < _MOST_PARTS:
                self.shapes[shape] = known
                self.parts += sum(len(part) for part in shape[2:] if part is not None)
        if number is None:
            return
        steps, action, signature = known
        self.in_order = self.in_order and number > self.last_number
        self.last_number = max(number, self.last_number)
        steps.ids.append(action)
        steps.numbers.append(number)
        steps.signature_ids.append(signature)

    def _understand(  # ways: each thing that can be wrong in a step, in the order of the file
        self, element: etree._Element
    ) -> "tuple[_ActorSteps, int, int] | None":
        """Return the actor of a step, its action and its access signature; None if anything in it is wrong."""
        before = len(self.gather.errors)
        steps, name = self._actor(element), self._required(element, "action")
        if steps is None or name is None:
            return None
        action = steps.actions.get(name)
        if action is None:
            what = f"action of actor '{steps.actor.name}'"
            self._error_at(element, *unknown_name(what, name, tuple(steps.actions)))
            return None
        reads, writes = [0] * len(steps.inputs), [0] * len(steps.outputs)
        loads, stores = set[str](), set[str]()
        for child in element:
            match local_name(child):
                case "tokens":
                    self._tokens(child, steps, reads, writes)
                case "variable":
                    variable, direction = self._required(child, "name"), self._direction(child)
                    if variable is not None:
                        (stores if direction == "write" else loads).add(variable)
                case _:
                    pass  # attributes of the step
        if len(self.gather.errors) == before:
            self._check_rates(element, steps, action, (tuple(reads), tuple(writes)))
        signature = (frozenset[str](), frozenset(loads), frozenset(stores))
        if len(self.gather.errors) > before or not self._is_kept(element, steps, signature):
            return None
        return steps, action, steps.signatures[signature]

    def _is_kept(self, element: etree._Element, steps: _ActorSteps, signature: _Signature) -> bool:
        """Give an access signature its number, if it has none; an error where that would be too many of them."""
        if signature in steps.signatures:
            return True
        self.names += sum(map(len, signature))
        if len(steps.signatures) > 0xFFFF:
            self._error_at(element, "an actor accesses its variables in more than 65536 ways", "this is not supported")
        elif self.names > _MOST_NAMES:
            message = f"the different steps name more than {_MOST_NAMES} variables altogether"
            self._error_at(element, message, "this is not supported")
        else:
            steps.signatures[signature] = len(steps.signatures)
            return True
        return False

    def _tokens(self, child: etree._Element, steps: _ActorSteps, reads: list[int], writes: list[int]) -> None:
        """Add the tokens of a step at one port."""
        port, count, direction = self._required(child, "port"), self._number(child, "count"), self._direction(child)
        if port is None or count is None or direction is None:
            return
        known, rates = (steps.inputs, reads) if direction == "read" else (steps.outputs, writes)
        if port in known:
            rates[known[port]] += count
        else:
            what = f"{'input' if direction == 'read' else 'output'} port of actor '{steps.actor.name}'"
            self._error_at(child, *unknown_name(what, port, tuple(known)))

    def _check_rates(
        self, element: etree._Element, steps: _ActorSteps, action: int, rates: tuple[tuple[int, ...], tuple[int, ...]]
    ) -> None:
        """Refuse an action whose steps differ in their tokens: rates are fixed in a trace."""
        first = steps.rates.setdefault(action, (*rates, _line(element)))
        if first[:2] != rates:
            name = f"{steps.actor.name}.{steps.actor.actions[action].name}"
            expected = f"expected the tokens of its first firing in line {first[2]}; actions have fixed rates"
            self._error_at(element, f"action {name} reads or writes other numbers of tokens than before", expected)

    def _dependency(self, element: etree._Element) -> None:
        source, target = self._number(element, "source"), self._number(element, "target")
        kind = self._required(element, "kind")
        if kind is not None and kind.lower() not in _KINDS:
            self._error_at(element, f"unknown kind '{kind}' of dependency", f"expected one of {', '.join(_KINDS[:5])}")
        for number in (source, target):
            if number is not None and number > self.highest_reference[0]:
                self.highest_reference = (number, _line(element))
        if kind is not None and kind.lower() == "fsm":
            name = element.get("target-actor")
            if name is not None and str(name) in self.actors:
                self.actors[str(name)].fsm = True

    # Attributes and errors

    def _actor(self, element: etree._Element) -> _ActorSteps | None:
        name = self._required(element, "actor")
        if name is None:
            return None
        steps = self.actors.get(name)
        if steps is None:
            self._error_at(element, *unknown_name("actor", name, tuple(self.actors)))
        return steps

    def _required(self, element: etree._Element, name: str) -> str | None:
        value = element.get(name)
        if value is None:
            tag = local_name(element)
            self._error_at(element, f"'{tag}' has no '{name}'", f"expected '<{tag} {name}=\"...\"'")
            return None
        return str(value)

    def _number(self, element: etree._Element, name: str) -> int | None:
        text = self._required(element, name)
        if text is None:
            return None
        if text.isascii() and text.isdecimal() and len(text) < 19:
            return int(text)
        self._error_at(element, f"{name} of '{local_name(element)}' is '{text[:40]}'", "expected a number from 0")
        return None

    def _direction(self, element: etree._Element) -> str | None:
        text = self._required(element, "direction")
        if text is None or text in ("read", "write"):
            return text
        self._error_at(element, f"direction of '{local_name(element)}' is '{text[:40]}'", "expected read or write")
        return None

    def _error_at(self, element: etree._Element, message: str, expected: str) -> None:
        self._error(message, _line(element), expected)

    def _error(self, message: str, line: int, expected: str, column: int = 1) -> None:
        self.gather.error(message, file_span(self.path, line, column), expected)
        if len(self.gather.errors) >= _MOST_ERRORS:
            raise _TooManyErrors

    # The trace

    def trace(self, made_by: tuple[tuple[str, str], ...]) -> Trace:
        """Return what was read; only of use when no error was gathered."""
        steps = list(self.actors.values())
        if not self.in_order:
            self._sort(steps)
        if self.highest_reference[0] > self.last_number:
            number, line = self.highest_reference
            self.gather.error(f"a dependency names firing {number}, which is no step", file_span(self.path, line))
        recorded = any(s.accesses_variables for s in steps)
        accesses = tuple(
            AccessTable(signatures=tuple(s.signatures), ids=np.array(s.signature_ids, dtype=np.uint16)) for s in steps
        )
        topology = replace(self.topology, actors=tuple(_with_rates(s) for s in steps))
        firings = [np.frombuffer(s.ids, dtype=np.uint16) if s.ids else np.zeros(0, dtype=np.uint16) for s in steps]
        return make_trace(topology, firings, accesses=accesses if recorded else (), made_by=made_by)

    def _sort(self, steps: list[_ActorSteps]) -> None:
        """Bring the firings of each actor into the order of their numbers; two of one number are an error."""
        numbers = np.sort(np.concatenate([np.array(s.numbers, dtype=np.int64) for s in steps]))
        repeated = numbers[1:][numbers[1:] == numbers[:-1]]
        if len(repeated):
            message = f"firing {int(repeated[0])} is there more than once"
            self.gather.error(message, file_span(self.path, 0), "expected each step with a number of its own")
        for s in steps:
            order = np.argsort(np.array(s.numbers, dtype=np.int64), kind="stable")
            s.ids = _reordered(s.ids, order)
            s.signature_ids = _reordered(s.signature_ids, order)


def _reordered(values: "array[int]", order: NDArray[np.intp]) -> "array[int]":
    return array("H", np.array(values, dtype=np.uint16)[order].tobytes())


def _with_rates(steps: _ActorSteps) -> TraceActor:
    """Return an actor with the rates of its steps; actions that never fired keep those of the model."""
    actions: list[TraceAction] = []
    for index, action in enumerate(steps.actor.actions):
        reads, writes, _ = steps.rates.get(index, (action.reads, action.writes, 0))
        actions.append(replace(action, reads=reads, writes=writes))
    return replace(steps.actor, actions=tuple(actions), fsm=steps.fsm)


def _line(element: etree._Element) -> int:
    return cast("int | None", element.sourceline) or 1


# Export ---------------------------------------------------------------------------------------------------------------


def write_turnus_trace(trace: Trace, path: str, dependencies: Dependencies | None = None) -> None:
    """Write a trace for TURNUS, compressed if the name ends in ``z``; each step is followed by its dependencies.

    ``dependencies`` come from ``dse.analyse.dependencies``; without them only the steps are written.

    Raises:
        FormatError: the file cannot be written, or some firing reads tokens that no firing writes.
    """
    refuse_unwritable(path, topology_names(trace.topology))
    try:
        with whole_file(path) as raw:
            if path.lower().endswith("z"):
                # mtime 0: the same trace gives the same bytes
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as packed:
                    _write(packed, trace, dependencies)
            else:
                _write(raw, trace, dependencies)
    except OSError as error:
        raise FormatError(f"cannot write this file: {error.strerror or error}", span=file_span(path, 0)) from error


def _write(file: "IO[bytes] | gzip.GzipFile", trace: Trace, dependencies: Dependencies | None) -> None:
    file.write(b'<?xml version="1.0" encoding="UTF-8"?>\n<trace>\n')
    edges = _EdgeWriter.of(trace, dependencies) if dependencies is not None else None
    steps = [_step_templates(trace, actor) for actor in range(len(trace.topology.actors))]
    number = 0
    for actor, first, last in firing_order(trace):
        ids = trace.firings[actor][first:last].tolist()
        accesses = trace.accesses[actor].ids[first:last].tolist() if trace.accesses else [0] * len(ids)
        lines = []
        for offset, (action, signature) in enumerate(zip(ids, accesses, strict=True)):
            lines.append(f'<step firing="{number}"{steps[actor][action][signature]}')
            if edges is not None:
                lines += edges.into(actor, first + offset, number)
            number += 1
        file.write("\n".join(lines).encode() + b"\n")
    file.write(b"</trace>\n")


def _quoted(name: str) -> str:
    """Return a name as the value of an attribute."""
    return f'"{markup(name)}"'


def _step_templates(trace: Trace, actor: int) -> list[list[str]]:
    """Return the text of a step behind its number for each action and access signature."""
    of = trace.topology.actors[actor]
    signatures: tuple[_Signature, ...] = ((frozenset(), frozenset(), frozenset()),)
    if trace.accesses:
        signatures = trace.accesses[actor].signatures or signatures
    return [[_step_template(of, action, signature) for signature in signatures] for action in of.actions]


def _step_template(actor: TraceActor, action: TraceAction, signature: _Signature) -> str:
    names = ("actor", actor.name), ("action", action.name), ("actor-class", actor.class_name)
    head = "".join(f" {key}={_quoted(value)}" for key, value in names)
    children = [
        f'<tokens direction="{direction}" port={_quoted(port)} count="{count}"/>'
        for direction, ports, rates in (("read", actor.inputs, action.reads), ("write", actor.outputs, action.writes))
        for port, count in zip(ports, rates, strict=True)
        if count
    ]
    for direction, variables in (("read", signature[1]), ("write", signature[2])):
        children += [f'<variable direction="{direction}" name={_quoted(v)}/>' for v in sorted(variables)]
    return f"{head}>{''.join(children)}</step>" if children else f"{head}/>"


@dataclass(slots=True)
class _EdgeWriter:
    """Writes the dependencies of one firing after another, in the global order."""

    trace: Trace
    edges: Dependencies
    starts: NDArray[np.int64]
    """shape (n_firings + 1,): the dependencies into firing f are those from ``starts[f]`` to ``starts[f + 1]``"""
    numbers: NDArray[np.int64]
    """shape (n_firings,): the number of each firing that was written"""
    ends: list[list[tuple[str, str]]]
    """For each actor and action its quoted names."""

    @classmethod
    def of(cls, trace: Trace, edges: Dependencies) -> "_EdgeWriter":
        """Prepare the dependencies of a trace."""
        n = trace.n_firings
        return cls(
            trace=trace,
            edges=edges,
            starts=np.searchsorted(edges.target, np.arange(n + 1, dtype=np.int64)),
            numbers=np.full(n, -1, dtype=np.int64),
            ends=[[(_quoted(a.name), _quoted(x.name)) for x in a.actions] for a in trace.topology.actors],
        )

    def into(self, actor: int, index: int, number: int) -> Iterator[str]:
        """Yield the dependencies into a firing, which gets its number."""
        firing = int(self.edges.first_firing[actor]) + index
        self.numbers[firing] = number
        target_actor, target_action = self.ends[actor][int(self.trace.firings[actor][index])]
        for e in range(int(self.starts[firing]), int(self.starts[firing + 1])):
            source = int(self.edges.source[e])
            owner = int(np.searchsorted(self.edges.first_firing, source, side="right")) - 1
            action = int(self.trace.firings[owner][source - int(self.edges.first_firing[owner])])
            source_actor, source_action = self.ends[owner][action]
            yield (
                f'<dependency source="{int(self.numbers[source])}" source-actor={source_actor}'
                f' source-action={source_action} target="{number}" target-actor={target_actor}'
                f" target-action={target_action}{self._kind(e)}/>"
            )

    def _kind(self, e: int) -> str:
        """Return the attributes of a dependency that depend on its kind."""
        kind, label = DEPENDENCY_KINDS[int(self.edges.kind[e])], int(self.edges.label[e])
        word, _, direction = kind.partition(" ")
        if kind == "fsm":
            return ' kind="fsm"'
        if kind == "tokens":
            buffer = self.trace.topology.buffers[label]
            source = self.trace.topology.actors[buffer.source].outputs[buffer.source_port]
            target = self.trace.topology.actors[buffer.target].inputs[buffer.target_port]
            ports = f"source-port={_quoted(source)} target-port={_quoted(target)}"
            return f' kind="tokens" {ports} count="{int(self.edges.count[e])}"'
        return f' kind="{word}" {word}={_quoted(self.edges.names[label])} direction="{direction}"'
