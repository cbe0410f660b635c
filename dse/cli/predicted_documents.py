"""What ``dse weights predict`` prints: a table of the actions that fire, and the JSON document with all of them."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from dse.base.escaping import shown
from dse.flows.weights import PredictedFiles
from dse.gpu.actors.weights import PredictedAction, PredictedWeights

_HEAD = ("us", "one thread", "threads", "together", "firings", "confidence", "action", "why")


def _table_lines(found: PredictedWeights) -> Iterator[str]:
    """Yield the table: five columns of numbers, then three of text."""
    fired = [a for a in found.actions if a.firings]
    rows = [_HEAD, *(_row(a, found) for a in sorted(fired, key=lambda a: -float(a.cost.cycles) * a.firings))]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    for row in rows:
        numbers = "  ".join(text.rjust(width) for text, width in zip(row[:5], widths[:5], strict=True))
        yield f"{numbers}  {row[5]:<{widths[5]}}  {row[6]:<{widths[6]}}  {row[7]}".rstrip()


def prediction_lines(files: PredictedFiles) -> list[str]:
    """Return the table of the actions that fire, the dearest actor first, and what is to be known of it."""
    found = files.predicted
    lines = [f"{found.table.name} on {found.device.name}: {found.model}, {found.shape.text} threads an actor", ""]
    lines += _table_lines(found)
    lines += ["", f"confidence {found.confidence}: {found.confidence_text}"]
    lines += [f"{key}: {value}" for key, value in found.table.manifest if key in ("launch", "host FIFOs")]
    if files.left_out:
        lines.append(f"on a CPU (files, printing or display): {', '.join(files.left_out)}")
    lines += [f"wrote {', '.join(files.written)}"] if files.written else []
    return list(map(shown, lines))


def _us(cycles: Fraction, found: PredictedWeights) -> float:
    return float(cycles) / found.device.clock_mhz


def _row(action: PredictedAction, found: PredictedWeights) -> tuple[str, ...]:
    cost = action.cost
    together = ""
    if cost.simd_cycles:
        k = len(cost.simd_cycles)
        together = f"{k}: {_us(cost.simd_cycles[-1] / k, found):.3f}"
    return (
        f"{_us(cost.cycles, found):.3f}",
        f"{_us(cost.alone_cycles, found):.3f}",
        str(cost.threads),
        together,
        str(action.firings),
        cost.confidence,
        f"{action.actor}.{cost.action}",
        cost.reason,
    )


def prediction_document(files: PredictedFiles) -> dict[str, Any]:
    """Return the JSON document: every action, cycles of the device's clock, with the reason of each cost."""
    found = files.predicted
    return {
        "network": found.table.name,
        "device": found.device.name,
        "clock_mhz": found.device.clock_mhz,
        "model": found.model,
        "threads": {"blocks": found.shape.blocks, "threads_per_block": found.shape.threads},
        "confidence": found.confidence,
        "confidence_text": found.confidence_text,
        "manifest": dict(found.table.manifest),
        "left_out": list(files.left_out),
        "actions": [_action(action, found) for action in found.actions],
        "written": list(files.written),
        "execution": files.execution,
    }


def _action(action: PredictedAction, found: PredictedWeights) -> dict[str, Any]:
    cost = action.cost
    return {
        "actor": action.actor,
        "action": cost.action,
        "firings": action.firings,
        "longest_run": action.longest_run,
        "cycles": float(cost.cycles),
        "us": _us(cost.cycles, found),
        "one_thread_us": _us(cost.alone_cycles, found),
        "threads": cost.threads,
        "confidence": cost.confidence,
        "reason": cost.reason,
        "simd_us": [_us(cycles, found) for cycles in cost.simd_cycles],
        "pieces": [
            {
                "line": piece.line,
                "times": float(piece.times),
                "threads": piece.threads,
                "cycles": piece.cycles,
                "one_thread_cycles": piece.alone_cycles,
                "reason": piece.reason,
            }
            for piece in cost.pieces
            if piece.line is not None
        ],
    }
