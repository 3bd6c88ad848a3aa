"""How a job fails: exceptions that carry an outcome, and the reading of those that do not."""

import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MAX_TEXT_CHARACTERS = 500
_PACKAGE = str(Path(__file__).parent)
_OUT_OF_MEMORY = re.compile(
    r"can't allocate memory|not enough memory|std::bad_alloc", re.IGNORECASE
)


class JobError(Exception):
    """A failure whose outcome is known where it is raised.

    `text` says in one or two lines what happened and how to mend it.
    """

    outcome = "aot_error"
    reason_code = "failed"

    def __init__(self, text: str, *, reason_code: str | None = None) -> None:
        super().__init__(text)
        self.text = text
        if reason_code is not None:
            self.reason_code = reason_code


class RequestError(JobError):
    """The request asks for what cannot be, or names what does not exist."""

    outcome = "harness_error"
    reason_code = "invalid_request"


class Unsupported(JobError):
    """A declared refusal: the stack says that it does not do this."""

    outcome = "unsupported"
    reason_code = "unsupported"


class MissingDependency(JobError):
    """The toolchain lacks a package that the request needs."""

    reason_code = "missing_dependency"


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Blames the request for values of the wrong type or form; also works as a decorator."""
    try:
        yield
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise RequestError(f"{what} cannot be read: {readable_error(error)}") from error


def readable_error(error: BaseException) -> str:
    """The first two lines of the error that say something, with its type in front."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = f"{type(error).__name__}: {' '.join(lines[:2])}" if lines else type(error).__name__
    return text if len(text) <= MAX_TEXT_CHARACTERS else text[: MAX_TEXT_CHARACTERS - 1] + "…"


def failure_of(error: BaseException, stage: str | None) -> dict[str, Any]:
    """The outcome, reason and text of an error that ended a job in `stage`."""
    if isinstance(error, JobError):
        return _failure(error.outcome, error.reason_code, error.text)
    if _is_out_of_memory(error):
        return _failure("out_of_memory", "allocation_failed", readable_error(error))
    if _is_ours(error):
        text = f"a bug in assay.aot: {readable_error(error)}; the log has the traceback"
        return _failure("harness_error", "internal_error", text)
    where = stage or "job"
    return _failure("aot_error", f"{where}_failed", f"{where} failed: {readable_error(error)}")


def _failure(outcome: str, reason_code: str, text: str) -> dict[str, Any]:
    return {"outcome": outcome, "reason_code": reason_code, "text": text}


def _is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and bool(_OUT_OF_MEMORY.search(str(error)))


def _is_ours(error: BaseException) -> bool:
    """Whether the innermost Python frame of the error lies in this package."""
    frames = traceback.extract_tb(error.__traceback__)
    return not frames or frames[-1].filename.startswith(_PACKAGE)
