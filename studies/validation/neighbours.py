"""Other programs on the same cores: busy in bursts, computing and streaming memory in turn."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

STATES = {"quiet": 0, "1 neighbour": 1, "2 neighbours": 2}
"""States of the machine, quiet first, by the number of other programs."""
BURST_S = 0.5


def _disturb(seed: int) -> None:
    generator = random.Random(seed)
    small = np.ones((96, 96), dtype=np.float32)
    large = np.ones(4 << 20, dtype=np.float64)
    while True:
        is_memory = generator.random() < 0.5
        end = time.monotonic() + BURST_S
        while time.monotonic() < end:
            if is_memory:
                large += 1.0
            else:
                np.dot(small, small)
        time.sleep(generator.uniform(0, 2 * BURST_S))


@contextmanager
def neighbours(count: int) -> Iterator[None]:
    """Runs `count` disturbing processes, each busy about half of the time, until the block ends."""
    processes = [
        multiprocessing.Process(target=_disturb, args=(seed,), daemon=True) for seed in range(count)
    ]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
            process.join()
