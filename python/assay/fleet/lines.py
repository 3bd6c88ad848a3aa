"""Programs that answer one line of JSON with one line of JSON."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

Document = dict[str, Any]


class FleetError(Exception):
    """An error that the user can mend. `code`: a name of ErrorCode, such as "unavailable"."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def answer_lines(answer: Callable[[Document], Document]) -> None:
    """Answers the lines of stdin until it ends. What libraries print goes to stderr."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        print(json.dumps(_answer(answer, line)), file=answers, flush=True)


def _answer(answer: Callable[[Document], Document], line: str) -> Document:
    try:
        return answer(json.loads(line))
    except FleetError as error:
        return {"error": {"code": error.code, "message": str(error)}}
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        return {"error": {"code": "unavailable", "message": message}}
