"""Device code is for the cards of this machine where it runs here, by what their driver tells."""

import ctypes
from typing import Any

import pytest

from dse.cli.cuda_arguments import cuda_request
from dse.flows.cuda_request import CudaRequest, request_here
from dse.native import cards
from dse.native.cuda import ARCHITECTURES


class Driver:
    """A driver with cards of these capabilities; ``fails``: the functions that fail."""

    def __init__(self, *capabilities: tuple[int, int], fails: str = "") -> None:
        self._capabilities, self._fails = capabilities, fails.split()

    def _status(self, name: str) -> int:
        return 100 if name in self._fails else 0

    def cuInit(self, flags: int) -> int:  # noqa: N802
        assert flags == 0
        return self._status("cuInit")

    def cuDeviceGetCount(self, count: Any) -> int:  # noqa: N802
        count._obj.value = len(self._capabilities)
        return self._status("cuDeviceGetCount")

    def cuDeviceGet(self, device: Any, number: int) -> int:  # noqa: N802
        device._obj.value = 7 + number
        return self._status("cuDeviceGet")

    def cuDeviceGetAttribute(self, value: Any, attribute: int, device: Any) -> int:  # noqa: N802
        value._obj.value = self._capabilities[device.value - 7][{75: 0, 76: 1}[attribute]]
        return self._status("cuDeviceGetAttribute")


def put(monkeypatch: pytest.MonkeyPatch, driver: Driver | None) -> None:
    def load(name: str) -> Driver:
        assert "cuda" in name
        if driver is None:
            raise OSError("no such file")
        return driver

    monkeypatch.setattr(ctypes, "CDLL", load)


@pytest.mark.parametrize(
    ("driver", "found"),
    [
        (None, ()),
        (Driver(), ()),
        (Driver((9, 0)), (90,)),
        (Driver((8, 6), (7, 5)), (86, 75)),
        (Driver((9, 0), fails="cuInit"), ()),
        (Driver((9, 0), fails="cuDeviceGetCount"), ()),
        (Driver((9, 0), fails="cuDeviceGet"), ()),
        (Driver((9, 0), fails="cuDeviceGetAttribute"), ()),
    ],
)
def test_capabilities(monkeypatch: pytest.MonkeyPatch, driver: Driver | None, found: tuple[int, ...]) -> None:
    put(monkeypatch, driver)
    assert cards.capabilities() == found


@pytest.mark.parametrize(
    ("driver", "chosen"),
    [
        (None, ARCHITECTURES),
        (Driver((9, 0), (9, 0)), (90,)),
        (Driver((8, 6), (7, 5)), (75, 86)),
        (Driver((6, 1)), ARCHITECTURES),
        (Driver((9, 0), (12, 0)), ARCHITECTURES),
    ],
)
def test_what_runs_here_is_for_the_cards_here(
    monkeypatch: pytest.MonkeyPatch, driver: Driver | None, chosen: tuple[int, ...]
) -> None:
    put(monkeypatch, driver)
    assert request_here(emulated=False) == CudaRequest(architectures=chosen)
    assert cuda_request("nvcc", None, here=True) == CudaRequest(architectures=chosen)
    assert cuda_request("nvcc", None) == CudaRequest(architectures=ARCHITECTURES), "it may be carried elsewhere"
    assert cuda_request("nvcc", "80", here=True) == CudaRequest(architectures=(80,))
    assert cuda_request("emulated", None, here=True) == CudaRequest(emulated=True)
    assert cuda_request(None, None, here=True) is None
