"""Advice on a kernel: what bounds it, and what a change would give (CGPredict, section 4.4).

Every change is a change of the kernel or of its features, and its time comes from the same model as the time without
it: nothing here estimates a gain by a factor. Changes: transposing an array that neighbouring threads read a row apart,
tiling into shared memory, another block size.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dse.base.errors import ModelNotApplicable
from dse.base.source import NO_SPAN, Span
from dse.gpu.kernel.tiling import staged, tiled
from dse.gpu.kernel.transpose import Transposition, touched_once, transposed, transpositions
from dse.gpu.models.seam import KernelCostModel
from dse.model.device import Device
from dse.model.kernel import Kernel, KernelFeatures, MemoryInstruction
from dse.model.kernel_cost import KernelCost

AdviceKind = Literal["transpose", "tile", "block"]
Block: TypeAlias = tuple[int, int, int]
Analyse: TypeAlias = Callable[[Kernel, Kernel, Block], KernelFeatures]
"""(kernel at the work size, at the trace size, block) -> features."""
Move: TypeAlias = Callable[[KernelFeatures, Kernel, Kernel, Block], KernelFeatures | None]
"""(features, kernel at both sizes, other block) -> what ``hierarchy`` reads of features there, None: analyse again."""
BLOCKS_1D = ((64, 1, 1), (128, 1, 1), (256, 1, 1), (512, 1, 1))
BLOCKS_2D = ((32, 32, 1), (32, 16, 1), (32, 8, 1), (16, 16, 1))
LEAST_GAIN = 1.01
"""A change that makes a kernel less than 1 % quicker is not worth a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A change and the predicted time of the changed kernel. ``gain``: time before / time after."""

    kind: AdviceKind
    text: str
    cost: KernelCost
    gain: float
    span: Span = NO_SPAN
    block: tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What advice is about: a kernel at the work size and the trace size, its features and its cost."""

    work: Kernel
    trace: Kernel
    features: KernelFeatures
    cost: KernelCost


def advise(
    subject: Subject, device: Device, model: KernelCostModel, analyse: Analyse, move: Move
) -> tuple[Advice, ...]:
    """Return the changes that help, the greatest gain first."""
    tried = [*_transpositions(subject, device, model, analyse), *_tilings(subject, device, model)]
    tried += _blocks(subject, device, model, analyse, move)
    return tuple(sorted((a for a in tried if a.gain >= LEAST_GAIN), key=lambda a: (-a.gain, a.kind, a.text)))


def _transpositions(subject: Subject, device: Device, model: KernelCostModel, analyse: Analyse) -> Iterator[Advice]:
    for change in transpositions(subject.work):
        far = _uncoalesced(subject, change)
        if not far:
            continue
        if touched_once(subject.work, change):
            yield from _staged(subject, change, far, device, model, analyse)
            continue
        features = analyse(transposed(subject.work, change), transposed(subject.trace, change), subject.features.block)
        cost = _cost(model, features, device)
        if cost is None:
            continue
        name = subject.work.array(change.array).source_name
        copy = "keep a transposed copy of" if change.copied else "store transposed"
        where = ", ".join(dict.fromkeys(m.text for m in far))
        text = f"{copy} {name}: {where} is then coalesced (without the time to transpose)"
        yield _advice("transpose", text, subject, cost, far[0].span)
        tiles = tiled(transposed(subject.work, change), features)
        both = _cost(model, tiles, device) if tiles is not None else None
        if both is not None:
            text = f"{copy} {name}, and tile into shared memory: no bank conflicts"
            yield _advice("transpose", text, subject, both, far[0].span)


def _staged(
    subject: Subject,
    change: Transposition,
    far: list[MemoryInstruction],
    device: Device,
    model: KernelCostModel,
    analyse: Analyse,
) -> Iterator[Advice]:
    """Yield what turning the elements around in shared memory gives, where an array is only passed through once.

    Its layout stays: another one would turn a transpose into a copy.
    """
    if subject.features.shared is not None:
        return
    edge = 32 if subject.features.block_threads >= 32 * 32 else 16
    block = (edge, edge, 1)
    inside = analyse(transposed(subject.work, change), transposed(subject.trace, change), block)
    cost = _cost(model, staged(inside, far[0].text), device)
    if cost is not None:
        where = ", ".join(dict.fromkeys(m.text for m in far))
        text = f"turn {edge} x {edge} elements around in a shared memory tile: {where} is then coalesced"
        yield _advice("tile", text, subject, cost, far[0].span, block)


def _uncoalesced(subject: Subject, change: Transposition) -> list[MemoryInstruction]:
    name = subject.work.array(change.array).source_name
    return [m for m in subject.features.instructions if m.array == name and m.access == "uncoalesced"]


def _tilings(subject: Subject, device: Device, model: KernelCostModel) -> Iterator[Advice]:
    features = tiled(subject.work, subject.features)
    cost = _cost(model, features, device) if features is not None else None
    if features is None or features.shared is None or cost is None:
        return
    width = features.block[0]
    arrays = " and ".join(features.shared.tile_arrays)
    text = f"tile {arrays} into shared memory by {width} x {width} ({features.shared.bytes_per_block} bytes a block)"
    loaded = next(m for m in subject.features.instructions if m.text == features.shared.tile_arrays[0])
    yield _advice("tile", text, subject, cost, loaded.span)


def _blocks(subject: Subject, device: Device, model: KernelCostModel, analyse: Analyse, move: Move) -> Iterator[Advice]:
    if subject.features.shared is not None or not subject.work.parallel:
        return  # tiles are as large as the block: another block is another kernel
    for block in BLOCKS_1D if len(subject.work.parallel) == 1 else BLOCKS_2D:
        if block == subject.features.block:
            continue
        features = None
        if model.name == "hierarchy":  # it reads nothing of a trace but how often data let things be done
            features = move(subject.features, subject.work, subject.trace, block)
        features = features or analyse(subject.work, subject.trace, block)
        cost = _cost(model, features, device)
        if cost is not None:
            text = f"blocks of {block_text(block)} instead of {block_text(subject.features.block)} threads"
            yield _advice("block", text, subject, cost, NO_SPAN, block)


def _cost(model: KernelCostModel, features: KernelFeatures, device: Device) -> KernelCost | None:
    """Return the cost of a changed kernel; None where the change takes it out of what the model covers."""
    try:
        return model.predict(features, device)
    except ModelNotApplicable:
        return None


def _advice(
    kind: AdviceKind,
    text: str,
    subject: Subject,
    cost: KernelCost,
    span: Span,
    block: tuple[int, int, int] | None = None,
) -> Advice:
    gain = subject.cost.time_s / cost.time_s
    return Advice(kind=kind, text=text, cost=cost, gain=gain, span=span, block=block or subject.features.block)


def block_text(block: tuple[int, int, int]) -> str:
    """Return a block as it is written on the command line: ``32x32``."""
    return "x".join(str(n) for n in (block if block[2] > 1 else block[:2]))
