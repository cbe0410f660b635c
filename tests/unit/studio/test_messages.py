"""What pages may say: each field is looked at, and whatever is wrong is an error that says so."""

import contextlib
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dse.base.errors import OptionError
from dse.flows.setting import Setting
from dse.studio.edits import Fix, Move, Resize, Scale, SetClock, SetModes
from dse.studio.messages import LONGEST_MESSAGE, StartSearch, Undo, is_change, parse_message

GOOD = [
    {"type": "move", "actor": 1, "partition": "P0"},
    {"type": "move", "actor": 1, "unit": "cpu"},
    {"type": "resize", "tokens": 7},
    {"type": "resize", "tokens": 7, "fifo": 2},
    {"type": "policy", "policy": "ROUND_ROBIN", "partition": "P0"},
    {"type": "cores", "partition": "P0", "cores": 2},
    {"type": "unit", "partition": "P0", "unit": "cpu"},
    {"type": "clock", "unit": "cpu", "mhz": "1200.5"},
    {"type": "clock", "unit": "cpu", "mhz": None},
    {"type": "modes", "release": "processing", "transfers": "parallel"},
    {"type": "scale", "actor": 0, "action": 0, "factor": "0.5"},
    {"type": "fix", "actor": 0, "fixed": True},
    {"type": "mapping", "mapping": "P0:*"},
    {"type": "undo"},
    {"type": "redo"},
    {"type": "pin", "pinned": False},
    {"type": "search", "seconds": 5},
    {"type": "stop"},
    {"type": "take", "found_by": "explore"},
    {"type": "save"},
    {"type": "share"},
]
BAD = [
    ({"type": "jump"}, "unknown message 'jump'"),
    ({"typ": "undo"}, "field 'type' of the message is null"),
    ({"type": "undo", "now": 1}, "message 'undo' has no field 'now'"),
    ({"type": "move", "actor": 5, "partition": "P0"}, "field 'actor' of the message is 5"),
    ({"type": "move", "actor": True, "partition": "P0"}, "field 'actor' of the message is true"),
    ({"type": "move", "actor": 1.0, "partition": "P0"}, "field 'actor' of the message is 1.0"),
    ({"type": "move", "actor": 0}, "a move names no place, or two"),
    ({"type": "move", "actor": 0, "partition": "P0", "unit": "cpu"}, "a move names no place, or two"),
    ({"type": "resize", "tokens": 0}, "field 'tokens' of the message is 0"),
    ({"type": "resize", "tokens": 1 << 50}, "field 'tokens'"),
    ({"type": "resize", "tokens": 5, "fifo": 5}, "field 'fifo' of the message is 5"),
    ({"type": "policy", "policy": "FIRST"}, "field 'policy' of the message is \"FIRST\""),
    ({"type": "clock", "unit": "cpu", "mhz": "0"}, "field 'mhz'"),
    ({"type": "clock", "unit": "cpu", "mhz": "1.00000001"}, "a clock is no whole number of hertz"),
    ({"type": "clock", "unit": "cpu", "mhz": 1200}, "field 'mhz' of the message is 1200"),
    ({"type": "scale", "actor": 0, "factor": "-1"}, "field 'factor'"),
    ({"type": "scale", "actor": 0, "factor": "1e999"}, "field 'factor'"),
    ({"type": "scale", "actor": 0, "action": 9, "factor": "1"}, "field 'action'"),
    ({"type": "modes", "release": "late"}, "field 'release'"),
    ({"type": "search", "seconds": 0}, "field 'seconds'"),
    ({"type": "take", "found_by": "luck"}, "field 'found_by'"),
    ({"type": "pin"}, "field 'pinned' of the message is null"),
    ({"type": "move", "actor": 0, "partition": "x" * 10_001}, "field 'partition'"),
]
NO_OBJECTS = [
    "",
    "{",
    "[]",
    "3",
    '"undo"',
    "null",
    '{"type":NaN}',
    '{"a":' * 3000,
    '{"type":"undo","n":' + "9" * 5000 + "}",
]


@pytest.mark.parametrize("entries", GOOD, ids=lambda entries: entries["type"])
def test_each_message_is_understood(setting: Setting, entries: dict[str, object]) -> None:
    message = parse_message(json.dumps(entries), setting.trace.topology)
    assert is_change(message) == (entries["type"] not in ("search", "stop", "take", "save", "share"))


def test_fields_arrive(setting: Setting) -> None:
    def read(**entries: object) -> object:
        return parse_message(json.dumps(entries), setting.trace.topology)

    assert read(type="move", actor=3, unit="cpu") == Move(actor=3, unit="cpu")
    assert read(type="resize", tokens=9, fifo=1) == Resize(tokens=9, fifo=1)
    assert read(type="scale", actor=1, action=0, factor="0.25") == Scale(actor=1, action=0, factor=1 / 4)
    assert read(type="clock", unit="cpu", mhz="1200.5") == SetClock(unit="cpu", mhz=2401 / 2)
    assert read(type="modes", transfers="parallel") == SetModes(transfers="parallel")
    assert read(type="fix", actor=2, fixed=True) == Fix(actor=2, fixed=True)
    assert read(type="search", seconds=30) == StartSearch(seconds=30)
    assert read(type="undo") == Undo()


@pytest.mark.parametrize(("entries", "message"), BAD, ids=lambda value: str(value)[:40])
def test_what_is_wrong_is_said(setting: Setting, entries: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse_message(json.dumps(entries), setting.trace.topology)
    assert message in caught.value.diagnostics[0].message


@pytest.mark.parametrize("text", NO_OBJECTS, ids=lambda text: text[:20])
def test_what_is_no_object_is_an_error(setting: Setting, text: str) -> None:
    with pytest.raises(OptionError):
        parse_message(text, setting.trace.topology)


def test_long_messages_are_refused_unread(setting: Setting) -> None:
    with pytest.raises(OptionError, match="too long"):
        parse_message(" " * (LONGEST_MESSAGE + 1), setting.trace.topology)


_WORDS = st.sampled_from(["", "0", "1e999999", "P0", "cpu", "\ud800", "\0", "__class__", "-0", "NaN"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    kind=st.sampled_from([str(entries["type"]) for entries in GOOD]),
    fields=st.dictionaries(
        st.sampled_from(sorted({key for entries in GOOD for key in entries if key != "type"})), _VALUES, max_size=3
    ),
)
def test_no_value_does_harm(setting: Setting, kind: str, fields: dict[str, object]) -> None:
    with contextlib.suppress(OptionError):
        parse_message(json.dumps({"type": kind, **fields}), setting.trace.topology)
