"""Task graphs of TGFF (.tgff): Dick, Rhodes and Wolf, "TGFF: Task Graphs for Free", CODES 1998. E3S has this form too.

Read are ``@TASK_GRAPH`` blocks (tasks and arcs), the first ``@COMMUN_QUANT`` table (bits of an arc of a type) and the
tables of processors: any other block that has rows below a comment which names the columns, as ``# type version valid
task_time ...`` does; a ``valid`` column of 0 leaves a row out, and of several rows of a type the first counts. A
comment right before such a block names the processor. Times are seconds. Each task fires once an iteration and moves
one token over each arc: a graph without cycles. Periods, deadlines, prices, powers and links are left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from dse.base.diagnostics import Gatherer
from dse.base.errors import OptionError
from dse.base.numbers import ANY_NUMBER, parse_decimal, parse_integer
from dse.base.registry import nearest_names
from dse.base.source import Span, file_span
from dse.formats.trace_header import MOST_TOKEN_BITS
from dse.formats.xml_reading import raise_errors, shorten
from dse.formats.xml_source import read_bytes
from dse.model.dataflow_graph import DataflowActor, DataflowChannel, DataflowGraph, ProcessorTime

_BEGIN = re.compile(rb"\s*(?:#[^\n]*\n\s*)*@[A-Za-z_]+\s+\S")
_BLOCK = re.compile(r"@([A-Za-z_]+)\s+(\S+)\s*\{")
_TASK = re.compile(r"TASK\s+(\S+)\s+TYPE\s+([0-9]{1,9})", re.IGNORECASE)
_ARC = re.compile(r"ARC\s+(\S+)\s+FROM\s+(\S+)\s+TO\s+(\S+)\s+TYPE\s+([0-9]{1,9})", re.IGNORECASE)
_ELSE_IN_GRAPHS = ("PERIOD", "HARD_DEADLINE", "SOFT_DEADLINE")
_TIMES = ("task_time", "exec_time", "execution_time", "time")
_MICROSECONDS = 10**6


def is_tgff(beginning: bytes) -> bool:
    """Return whether the beginning of a file is that of a TGFF file: comments, then ``@NAME VALUE``."""
    return _BEGIN.match(beginning) is not None


@dataclass(slots=True)
class _Block:
    """A block of the file: its lines with their numbers, and the comment before it."""

    kind: str
    number: str
    line: int
    comment: str
    lines: list[tuple[int, str]] = field(default_factory=list)


@dataclass(slots=True)
class _Processor:
    """A type of processor: microseconds of each type of task."""

    name: str
    times: dict[int, Fraction] = field(default_factory=dict)


def read_tgff(path: str, graph: str | None = None) -> DataflowGraph:
    """Return the task graphs of a file as one, or that of the number ``graph`` alone.

    Tasks are named as in the file where there is one graph, else ``g0_src`` after the number of theirs.

    Raises:
        FormatError: with everything that is wrong in the file. OptionError: there is no graph of that number.
    """
    gather = Gatherer()
    blocks = list(_blocks(path, gather))
    found = _graphs(path, blocks, gather)
    if not found:
        gather.error("there is no task graph", file_span(path, 0), "expected '@TASK_GRAPH 0 {'")
    raise_errors(gather)
    if graph is not None and graph not in found:
        raise OptionError(f"'{path}' has no task graph '{graph}'", expected=nearest_names(graph, tuple(found)))
    taken = [*found.values()] if graph is None else [found[graph]]
    reader = _Reader(path, gather, blocks)
    for block in taken:
        reader.read(block, f"g{block.number}_" if len(taken) > 1 else "")
    raise_errors(gather)
    return reader.graph(len(taken), graph)


def _graphs(path: str, blocks: list[_Block], gather: Gatherer) -> dict[str, _Block]:
    """Return the task graphs of a file by their numbers; a second one of a number is an error."""
    found: dict[str, _Block] = {}
    for block in blocks:
        first = found.setdefault(block.number, block) if block.kind == "TASK_GRAPH" else block
        if first is not block:
            what = f"task graph '{shorten(block.number)}' is there twice"
            gather.error(what, file_span(path, block.line), f"the first is in line {first.line}")
    return found


def _blocks(path: str, gather: Gatherer) -> Iterator[_Block]:
    """Yield the blocks of a file; lines outside of them are values that nothing here needs."""
    block, comment = None, ""
    for number, raw in enumerate(read_bytes(path).decode("utf-8", "replace").splitlines(), start=1):
        line = raw.strip()
        begin = _BLOCK.match(line)
        if block is not None and line.startswith("}"):
            yield block
            block, comment = None, ""
        elif block is not None:
            block.lines.append((number, line))
        elif begin is not None:
            block = _Block(begin[1].upper(), begin[2], number, comment, [(number, line[begin.end() :].strip())])
        elif line.startswith("#"):
            comment = line.lstrip("#").strip() or comment
        elif line:
            comment = ""
    if block is not None:
        what = f"the block '@{shorten(block.kind)} {shorten(block.number)}' does not end"
        gather.error(what, file_span(path, block.line), "expected '}'")


def _times(block: _Block) -> dict[int, Fraction]:
    """Return the microseconds of each type of task in a table; empty where the block is no such table."""
    columns: list[str] = []
    found: dict[int, Fraction] = {}
    for _, line in block.lines:
        words = line.lstrip("#").split()
        if line.startswith("#"):
            columns = [word.lower() for word in words] if words[:1] == ["type"] else columns
        elif columns and len(words) >= len(columns):
            row = dict(zip(columns, words, strict=False))
            kind, seconds = parse_integer(row["type"]), _seconds(row)
            if kind is not None and seconds is not None:
                found.setdefault(kind, seconds * _MICROSECONDS)
    return found


def _seconds(row: dict[str, str]) -> Fraction | None:
    """Return the time in a row of a table by its columns; None where there is none, or the row is not valid."""
    text = next((row[name] for name in _TIMES if name in row), "")
    value = parse_decimal(text)
    if value is None or value < 0 or not ANY_NUMBER.holds(value) or parse_integer(row.get("valid", "1")) == 0:
        return None
    return value


def _processors(blocks: list[_Block]) -> list[_Processor]:
    """Return the types of processors that have times, each by a name of its own."""
    found: list[_Processor] = []
    for block in blocks:
        times = {} if block.kind == "TASK_GRAPH" else _times(block)
        if times:
            name = block.comment or f"{block.kind} {block.number}"
            taken = any(processor.name == name for processor in found)
            found.append(_Processor(f"{name} ({block.kind} {block.number})" if taken else name, times))
    return found


def _quantities(blocks: list[_Block]) -> dict[int, int]:
    """Return the bits of a token of each type of arc."""
    table = next((block.lines for block in blocks if block.kind == "COMMUN_QUANT"), [])
    found: dict[int, int] = {}
    for words in (line.split() for _, line in table):
        kind, bits = (parse_integer(words[0]), parse_decimal(words[1])) if len(words) == 2 else (None, None)
        if kind is not None and bits is not None and bits >= 0:
            found[kind] = min(int(bits), MOST_TOKEN_BITS)
    return found


@dataclass(slots=True)
class _Task:
    """A task: its type, where it stands, and the ports of its arcs."""

    name: str
    kind: int
    span: Span
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)


class _Reader:
    """Gathers tasks and arcs of graphs."""

    def __init__(self, path: str, gather: Gatherer, blocks: list[_Block]) -> None:
        self._path = path
        self._gather = gather
        self._processors = _processors(blocks)
        self._bits = _quantities(blocks)
        self._tasks: dict[str, _Task] = {}
        self._numbers: dict[str, int] = {}
        self._channels: list[DataflowChannel] = []
        self._names: set[str] = set()

    def read(self, block: _Block, prefix: str) -> None:
        """Read one graph; its tasks come before its arcs, wherever they stand."""
        before = len(self._tasks)
        arcs: list[tuple[Span, re.Match[str]]] = []
        for number, line in block.lines:
            span = file_span(self._path, number)
            task, arc = _TASK.match(line), _ARC.match(line)
            if task is not None:
                self._add_task(prefix + task[1], int(task[2]), span)
            elif arc is not None:
                arcs.append((span, arc))
            elif line and not line.startswith("#") and line.split()[0].upper() not in _ELSE_IN_GRAPHS:
                expected = "expected 'TASK name TYPE n', 'ARC name FROM a TO b TYPE n', PERIOD or a deadline"
                self._gather.error(f"'{shorten(line)}' is not understood", span, expected)
        for span, arc in arcs:
            self._add_arc(arc, prefix, span)
        if len(self._tasks) == before:
            self._gather.error("the graph has no tasks", file_span(self._path, block.line), "expected 'TASK ...'")

    def _add_task(self, name: str, kind: int, span: Span) -> None:
        if name in self._tasks:
            self._gather.error(f"task '{shorten(name)}' is there twice", span, "expected distinct names")
            return
        self._numbers[name] = len(self._tasks)
        self._tasks[name] = _Task(name, kind, span)

    def _add_arc(self, arc: re.Match[str], prefix: str, span: Span) -> None:
        source, target = self._tasks.get(prefix + arc[2]), self._tasks.get(prefix + arc[3])
        for name, task in ((arc[2], source), (arc[3], target)):
            if task is None:
                known = tuple(n.removeprefix(prefix) for n in self._tasks if n.startswith(prefix))
                self._gather.error(f"there is no task '{shorten(name)}'", span, nearest_names(name, known))
        if source is None or target is None:
            return
        name, number = prefix + arc[1], 2
        while name in self._names:
            name, number = f"{prefix}{arc[1]}_{number}", number + 1
        self._names.add(name)
        source.outputs.append(name)
        target.inputs.append(name)
        self._channels.append(
            DataflowChannel(
                name=name,
                source=self._numbers[source.name],
                source_port=len(source.outputs) - 1,
                target=self._numbers[target.name],
                target_port=len(target.inputs) - 1,
                token_bits=self._bits.get(int(arc[4]), 0),
                span=span,
            )
        )

    def graph(self, count: int, number: str | None) -> DataflowGraph:
        """Return the graph of all that was read; ``count``: graphs in it, ``number``: of the one that was asked for."""
        name = re.sub(r"\W+", "_", self._path.replace("\\", "/").rpartition("/")[2].rpartition(".")[0]) or "tasks"
        together = (f"{count} task graphs side by side, each once an iteration (--graph N takes one)",)
        kinds = {task.kind for task in self._tasks.values()}
        whole = next((p for p in self._processors if kinds <= p.times.keys()), None)
        return DataflowGraph(
            name=name if number is None else f"{name}_{number}",
            path=self._path,
            tool="TGFF",
            actors=tuple(self._actor(task, whole) for task in self._tasks.values()),
            channels=tuple(self._channels),
            unit_mhz=Fraction(1),
            notes=(*(together if count > 1 else ()), "no periods and no deadlines"),
        )

    def _actor(self, task: _Task, whole: _Processor | None) -> DataflowActor:
        """Return the actor of a task; ``whole``: the first processor that has times for all tasks."""
        return DataflowActor(
            name=task.name,
            class_name=f"type{task.kind}",
            inputs=tuple(task.inputs),
            outputs=tuple(task.outputs),
            reads=((1,),) * len(task.inputs),
            writes=((1,),) * len(task.outputs),
            times=tuple(
                ProcessorTime(processor=p.name, times=(p.times[task.kind],), default=p is whole)
                for p in self._processors
                if task.kind in p.times
            ),
            span=task.span,
        )
