"""Random networks of RVC-CAL: actors, how they are connected, and what is known of them by construction."""

import random
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import quoteattr

from dse.program.types import BOOL, STRING, FloatType, IntType, ScalarType, Type
from tests.property.native_actors import ActorShape, ActorText, ActorWriter
from tests.property.native_expressions import WIDTHS, Named

_GPU_BITS = 128
"""Of an integer token on a GPU, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomNetwork:
    """Files of a network. ``timed``: whether its traces may depend on when tokens arrive."""

    seed: int
    name: str
    actors: tuple[ActorText, ...]
    instances: tuple[str, ...]
    connections: tuple[str, ...]
    timed: bool

    def write(self, folder: Path) -> Path:
        """Write the files into a folder and return the path of the network."""
        return write_batch((self,), folder)


def write_batch(networks: tuple[RandomNetwork, ...], folder: Path) -> Path:
    """Write several networks as one, side by side without connections, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    for network in networks:
        for actor in network.actors:
            (folder / f"{actor.name}.cal").write_text(actor.text, encoding="utf-8")
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<XDF name="Top">']
    lines += [line for network in networks for line in network.instances]
    lines += [line for network in networks for line in network.connections]
    path = folder / "Top.xdf"
    path.write_text("\n".join([*lines, "</XDF>", ""]), encoding="utf-8")
    return path


@dataclass(frozen=True, slots=True)
class _Open:
    """An output that may get readers."""

    instance: str
    port: str
    type: ScalarType


@dataclass(slots=True)
class _Building:
    outputs: list[_Open] = field(default_factory=list)
    actors: list[ActorText] = field(default_factory=list)
    instances: list[str] = field(default_factory=list)
    connections: list[str] = field(default_factory=list)


class NetworkWriter:
    """Writes one network of two to six instances."""

    def __init__(
        self,
        seed: int,
        *,
        timed: bool,
        name: str = "",
        small_fifos: bool = False,
        exotic: bool = False,
        silent: bool = False,
        apart: bool = False,
    ) -> None:
        self.seed = seed
        self.random = random.Random(f"{seed} {timed}")
        self.timed = timed
        self.name = name or f"N{seed}"
        self.small_fifos = small_fifos
        self.exotic = exotic
        self.silent = silent or apart
        self.apart = apart
        self.built = _Building()

    def write(self) -> RandomNetwork:
        """Return the network."""
        for k in range(self.random.randint(1, 2)):
            reads = self.timed and self.random.random() < 0.2
            firings = self.random.randint(40, 120) if self.apart else self.random.randint(5, 40)
            self._add(f"S{k}", (), self._types(1, 2), firings=firings, reads_input=reads)
        for k in range(self.random.randint(2, 4) if self.apart else self.random.randint(1, 3)):
            if not self.apart and self.random.random() < 0.25:
                self._loop(f"L{k}")
            else:
                self._add(f"T{k}", self._inputs(), self._types(1 if self.silent else 0, 2))
        return RandomNetwork(
            seed=self.seed,
            name=self.name,
            actors=tuple(self.built.actors),
            instances=tuple(self.built.instances),
            connections=tuple(self.built.connections),
            timed=self.timed,
        )

    def _types(self, least: int, most: int) -> tuple[ScalarType, ...]:
        return tuple(self._type() for _ in range(self.random.randint(least, most)))

    def _type(self) -> ScalarType:
        if self.random.random() < 0.7:
            return IntType(self._width(), self.random.random() < 0.6)
        texts = () if self.silent else (STRING,)
        return self.random.choice((FloatType(16), FloatType(32), FloatType(64), BOOL, *texts))

    def _width(self) -> int:
        """Return the bits of an integer token; no more than a word of a GPU has where the network is silent."""
        return self.random.choice([w for w in WIDTHS if w <= _GPU_BITS] if self.silent else WIDTHS)

    def _inputs(self) -> list[_Open]:
        """Return what the inputs of a new actor read; an output may get several readers."""
        count = self.random.choice((1, 1, 2, 2, 3))
        return [self.random.choice(self.built.outputs) for _ in range(count)]

    def _add(
        self,
        name: str,
        inputs: tuple[_Open, ...] | list[_Open],
        outputs: tuple[ScalarType, ...],
        *,
        firings: int = 0,
        feedback: int | None = None,
        reads_input: bool = False,
    ) -> tuple[ActorText, str]:
        """Add an actor and one or two instances of it, connected; return it and the name of the first."""
        shape = ActorShape(
            name=f"{self.name}_{name}",
            inputs=tuple(self._arriving(o.type) for o in inputs),
            outputs=outputs,
            timed=self.timed and self.random.random() < 0.7,
            firings=firings,
            feedback=feedback,
            reads_input=reads_input,
            silent=self.silent,
            apart=self.apart,
        )
        actor = ActorWriter(self.random, shape, exotic=self.exotic).write()
        self.built.actors.append(actor)
        first = ""
        for copy in range(2 if self.random.random() < 0.2 else 1):
            instance = f"{self.name.lower()}_{name.lower()}_{copy}"
            first = first or instance
            self._instance(actor, instance)
            skipped = self.random.randrange(40)
            for k, opened in enumerate(inputs):
                if opened.instance == "self":
                    self._connect(_Open(instance, actor.outputs[k].name, opened.type), instance, actor.inputs[k].name)
                elif k != skipped:
                    self._connect(opened, instance, actor.inputs[k].name)
            self.built.outputs += [
                _Open(instance, p.name, p.type)
                for k, p in enumerate(actor.outputs)
                if k != feedback and (not self.built.outputs or self.random.random() < 0.9)
            ]
        return actor, first

    def _loop(self, name: str) -> None:
        """Add an actor with a connection from itself to itself that holds a token or more from the start."""
        of = self._type()
        self._add(name, [_Open("self", "", of), *self._inputs()], (of, *self._types(1, 1)), feedback=0)

    def _arriving(self, of: ScalarType) -> ScalarType:
        """Return the type of an input that reads tokens of type ``of``: for integers any other at times."""
        if isinstance(of, IntType) and self.random.random() < 0.4:
            return IntType(self._width(), self.random.random() < 0.6)
        return of

    def _instance(self, actor: ActorText, name: str) -> None:
        parameters = "".join(
            f'<Parameter name="{p.name}">{self._argument(p)}</Parameter>'
            for p in actor.parameters
            if self.random.random() < 0.9
        )
        self.built.instances.append(f'<Instance id="{name}"><Class name="{actor.name}"/>{parameters}</Instance>')

    def _argument(self, parameter: Named) -> str:
        of: Type = parameter.type
        if isinstance(of, IntType):
            value = self.random.choice((0, 1, self.random.getrandbits(of.size), (1 << of.size) - 1))
            literal = f'<Expr kind="Literal" literal-kind="Integer" value="{value}"/>'
            if of.signed and self.random.random() < 0.4:
                return f'<Expr kind="UnaryOp"><Op name="-"/>{literal}</Expr>'
            return literal
        if of == BOOL:
            return f'<Expr kind="Literal" literal-kind="Boolean" value="{self.random.choice(("true", "false"))}"/>'
        if of == STRING:
            text = self.random.choice(("", "word", 'a "b"', "back\\\\slash"))
            return f'<Expr kind="Literal" literal-kind="String" value={quoteattr(text)}/>'
        return f'<Expr kind="Literal" literal-kind="Real" value="{self.random.choice(("0.1", "2.5e3", "7.0"))}"/>'

    def _connect(self, source: _Open, instance: str, port: str) -> None:
        ends = f'src="{source.instance}" src-port="{source.port}" dst="{instance}" dst-port="{port}"'
        size = ""
        if self.random.random() < (0.7 if self.small_fifos else 0.15):
            tokens = self.random.choice((1, 2, 3, 5, 7, 8, 16, 1000))
            value = f'<Expr kind="Literal" literal-kind="Integer" value="{tokens}"/>'
            size = f'<Attribute kind="Value" name="bufferSize">{value}</Attribute>'
        self.built.connections.append(f"<Connection {ends}>{size}</Connection>")


def random_network(
    seed: int,
    *,
    timed: bool,
    small_fifos: bool = False,
    exotic: bool = False,
    silent: bool = False,
    apart: bool = False,
) -> RandomNetwork:
    """Return the network of a seed. It ends by itself, and no firing of it fails.

    ``timed``: it may depend on when tokens arrive. ``exotic``: it may hold lists that have no form in C++.
    ``silent``: it does nothing that a GPU cannot do. ``apart``: that, and most actions leave nothing for the next
    firing.
    """
    writer = NetworkWriter(seed, timed=timed, small_fifos=small_fifos, exotic=exotic, silent=silent, apart=apart)
    return writer.write()
