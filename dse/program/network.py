"""The flattened network: instances of lowered actors and the connections between their ports."""

from dataclasses import dataclass

from dse.base.escaping import shown
from dse.base.source import NO_SPAN, Span
from dse.program.ir import Actor
from dse.program.types import Type


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """An actor instance. ``name`` is its path through the hierarchy, joined with ``/`` (``decoder/parser``)."""

    name: str
    actor: Actor
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """One FIFO: one reader of an output port. Ports are indices into the actor's ``outputs`` and ``inputs``."""

    source: int
    source_port: int
    target: int
    target_port: int
    type: Type
    capacity: int | None = None
    """The ``bufferSize`` of the XDF in tokens, or None."""
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A network after elaboration; ``connections`` stand in the order of depth-first flattening (buffer order)."""

    name: str
    path: str
    instances: tuple[Instance, ...]
    connections: tuple[Connection, ...]
    sources: tuple[str, ...] = ()
    """All files that were read, for digests."""

    def __repr__(self) -> str:
        return f"<Network {shown(self.name)}: {len(self.instances)} actors, {len(self.connections)} FIFOs>"

    @property
    def text(self) -> str:
        """Everything that there is to a network, as text: equal for equal networks, and for no others."""
        return repr((self.name, self.path, self.instances, self.connections, self.sources))

    def connection_name(self, connection: Connection) -> str:
        """Return ``path/source.port->path/target.port``, the channel name of golden records and reports."""
        source, target = self.instances[connection.source], self.instances[connection.target]
        return (
            f"{source.name}.{source.actor.outputs[connection.source_port].name}"
            f"->{target.name}.{target.actor.inputs[connection.target_port].name}"
        )
