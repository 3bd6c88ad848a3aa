"""Programs that answer one line of JSON with one line of JSON."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

Document = dict[str, Any]


class FleetError(Exception):
    """An error that the user can mend. `code`: a name of ErrorCode, such as "unavailable"."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Driver(Protocol):
    """A driver's side of an executor."""

    def answer(self, request: Document) -> Document:
        """Answers one request of docs/contracts/fleet.md."""

    def close(self) -> None:
        """Leaves the scheduler; jobs and parts stay."""


def serve_driver(make: Callable[[Document, Path], Driver]) -> None:
    """Answers until stdin ends. The first request opens the executor.

    `make`: gets its entry, and the folder for parts, which whoever asks removes.
    """
    driver: Driver | None = None

    def answer(request: Document) -> Document:
        nonlocal driver
        if request["ask"] == "open":
            driver = make(request["entry"], Path(request["folder"]))
            return {}
        if driver is None:
            raise FleetError("invalid_argument", "the first request must be open")
        return driver.answer(request)

    answer_lines(answer)
    if driver is not None:
        driver.close()


def answer_lines(answer: Callable[[Document], Document]) -> None:
    """Answers the lines of stdin until it ends. What libraries print goes to stderr.

    Whoever asks decides when it is over: a terminal and a service manager signal all at once.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        # A handler ends with an exec; SIG_IGN would go on in each program that this one starts.
        signal.signal(number, _go_on)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        print(json.dumps(_answer(answer, line)), file=answers, flush=True)


def _go_on(_number: int, _frame: object) -> None:
    """Leaves a signal without effect."""


def _answer(answer: Callable[[Document], Document], line: str) -> Document:
    try:
        return answer(json.loads(line))
    except FleetError as error:
        return {"error": {"code": error.code, "message": str(error)}}
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        return {"error": {"code": "unavailable", "message": message}}
