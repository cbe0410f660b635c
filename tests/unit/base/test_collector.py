"""What the collector leaves out, and that this is for workers alone."""

import gc

import pytest

from dse.base.collector import set_apart


def test_only_a_worker_sets_apart_what_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.unfreeze()
    set_apart()
    assert gc.get_freeze_count() == 0
    monkeypatch.setattr("multiprocessing.parent_process", lambda: object())
    set_apart()
    try:
        assert gc.get_freeze_count() > 1_000
    finally:
        gc.unfreeze()
