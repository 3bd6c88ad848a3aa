"""Waits for what other processes do."""

import time
from collections.abc import Callable


def wait_until(holds: Callable[[], bool], timeout_s: float = 20) -> None:
    """Returns when it holds; fails after the time."""
    end = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.02)
