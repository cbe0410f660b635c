"""Digests of points, and accounts that are made when they are looked at, against their plain meaning."""

import hashlib
import json
import random

import numpy as np
import pytest

from dse.model.design_point import DesignPoint
from dse.model.estimate import Accounts, BufferAccount
from tests.property.estimation_cases import random_case, with_clocks


def plain_digest(point: DesignPoint) -> str:
    partitions = [
        [list(p.actors), p.unit, p.policy, p.cores, list(p.static_order)]
        + ([] if p.clock_mhz is None else [str(p.clock_mhz)])
        for p in point.partitions
    ]
    text = json.dumps([partitions, list(point.capacities), point.release, point.transfers], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("seed", range(50))
def test_a_digest_is_that_of_the_json_text(seed: int) -> None:
    rng = random.Random(seed)
    point = with_clocks(rng, random_case(rng)).point
    assert point.digest() == plain_digest(point)


def test_accounts_equal_the_tuple_of_them() -> None:
    rows = np.arange(15).reshape(3, 5)
    accounts, plain = Accounts(BufferAccount, rows), tuple(BufferAccount(*row) for row in rows.tolist())
    assert accounts == plain
    assert plain == accounts
    assert accounts != plain[:2]
    assert accounts == Accounts(BufferAccount, rows.copy())
    assert (len(accounts), accounts[1], accounts[-2:]) == (3, plain[1], plain[-2:])
    assert all(isinstance(account, BufferAccount) for account in accounts)
    assert (repr(accounts), hash(accounts)) == (repr(plain), hash(plain))
    assert accounts != rows.tolist()
