"""Turns failures of jobs into outcomes: exceptions that carry one, and the reading of others."""

import errno
import os
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MAX_TEXT_CHARACTERS = 500
_FROM = " (from "
_PACKAGE = str(Path(__file__).parent)
_REFUSED = re.compile(r"not implemented for '(Half|BFloat16|Char|Byte|Bool|Long|Int|Short)'")
_OUT_OF_MEMORY = re.compile(
    r"can't allocate memory|not enough memory|std::bad_alloc", re.IGNORECASE
)
_DISK_FULL = re.compile(r"No space left on device|Disk quota exceeded", re.IGNORECASE)


HINTS = (
    (
        "Missing out variants",
        "no kernel executes these operators: let a partitioner take them, or use a quantization "
        "that the lowering knows",
    ),
    (
        "data-dependent|Could not guard",
        "the model's control flow depends on values: use torch.cond, or bound it by torch._check",
    ),
    (
        "per_op mode expects no overlaps",
        "per_op_mode wants partitions that share no node: turn it off for this model",
    ),
    (
        "No module named",
        "the toolchain lacks this package: install it beside executorch",
    ),
)
"""Known errors of the toolchain (a pattern) and what mends them."""


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
    """The request asks for what cannot be, or names what does not exist: its author's fault."""

    reason_code = "invalid_request"


class Unsupported(JobError):
    """A declared refusal: the stack says that it does not do this."""

    outcome = "unsupported"
    reason_code = "unsupported"


class MissingDependency(JobError):
    """The toolchain lacks a package that the request needs."""

    reason_code = "missing_dependency"


class InternalError(JobError):
    """A fault of Assay, where the innermost frame of the error does not tell: it is a package's."""

    outcome = "harness_error"
    reason_code = "internal_error"


@contextmanager
def our_work(what: str) -> Iterator[None]:
    """Blames Assay for an error in what it does in addition to calling the model or a backend."""
    try:
        yield
    except (JobError, MemoryError, OSError):
        raise
    except Exception as error:
        if _is_out_of_memory(error) or is_disk_full(error):
            raise
        raise InternalError(
            f"a bug in assay.toolchain: {what}: {readable_error(error)}; the log has the traceback"
        ) from error


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Blames the request for values of the wrong type or form; also works as a decorator."""
    try:
        yield
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise RequestError(f"{what} cannot be read: {readable_error(error)}") from error


def readable_error(error: BaseException) -> str:
    """The first two lines of the error or its summary, its type in front and its cause behind."""
    text = _first_lines(error, lines=2)
    cause = _first_lines(_root_cause(error), lines=1)
    if cause not in text:
        text += f"{_FROM}{cause})"
    return text if len(text) <= MAX_TEXT_CHARACTERS else text[: MAX_TEXT_CHARACTERS - 1] + "…"


def without_cause(text: str) -> str:
    """A readable error without what it was raised from."""
    return text.split(_FROM)[0]


def walk_causes(error: BaseException | None) -> Iterator[str]:
    """The first line of the error, and of each error that it was raised from."""
    while error is not None:
        yield str(error).strip().split("\n")[0]
        error = error.__cause__


def _first_lines(error: BaseException, lines: int) -> str:
    text_lines = significant_lines(error)
    name = type(error).__name__
    return f"{name}: {' '.join(text_lines[:lines])}" if text_lines else name


def _root_cause(error: BaseException) -> BaseException:
    """The error that it was raised from, and that one from, as far back as it goes."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def significant_lines(error: BaseException) -> list[str]:
    """The lines of its text, or of its summary where it ends with one, as OpenVINO's do."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    begins = [place for place, line in enumerate(lines) if line.endswith("Summary:")]
    return lines[begins[-1] + 1 :] if begins and lines[begins[-1] + 1 :] else lines


def failure_from_error(error: BaseException, stage: str | None) -> dict[str, Any]:
    """The outcome, reason and text of an error that ended a job in `stage`."""
    if isinstance(error, JobError):
        return _failure(error.outcome, error.reason_code, error.text)
    if _is_out_of_memory(error):
        return _failure("out_of_memory", "allocation_failed", readable_error(error))
    if is_disk_full(error):
        return disk_full(f": {readable_error(error)}")
    if isinstance(error, RuntimeError) and _REFUSED.search(str(error)):
        return _failure("unsupported", "dtype_not_implemented", readable_error(error))
    if _is_ours(error):
        text = f"a bug in assay.toolchain: {readable_error(error)}; the log has the traceback"
        return _failure("harness_error", "internal_error", text)
    where = stage or "job"
    text = f"{where} failed: {readable_error(error)}{find_hint(str(error))}"
    return _failure("aot_error", f"{where}_failed", text)


def find_hint(message: str) -> str:
    """A known remedy for an error, to append to its text; empty without one."""
    return next((f"\n{hint}" for pattern, hint in HINTS if re.search(pattern, message)), "")


def is_wrong_use(error: Exception) -> bool:
    """True if a model's error may come from inputs that do not fit it.

    An exhausted memory and a dtype that has no kernel are told as what they are.
    """
    return not (_is_out_of_memory(error) or _REFUSED.search(str(error)))


def _failure(outcome: str, reason_code: str, text: str) -> dict[str, Any]:
    return {"outcome": outcome, "reason_code": reason_code, "text": text}


def disk_full(details: str) -> dict[str, Any]:
    """A job that found no room: the host's failure and no backend's."""
    text = (
        f"the disk is full{details}; free space where ASSAY_HOME and TMPDIR are, and run it again; "
        "in a sandbox TMPDIR holds 2 GiB, which --sandbox=off lifts"
    )
    return _failure("harness_error", "disk_full", text)


def is_disk_full(error: BaseException | str) -> bool:
    """True if an error, what it was raised from, or a text tells of a disk without room."""
    if isinstance(error, str):
        return bool(_DISK_FULL.search(error))
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    if _DISK_FULL.search(str(error)):
        return True
    return error.__cause__ is not None and is_disk_full(error.__cause__)


def _is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and bool(_OUT_OF_MEMORY.search(str(error)))


def _is_ours(error: BaseException) -> bool:
    """True if the innermost Python frame of the error lies in this package."""
    frames = traceback.extract_tb(error.__traceback__)
    return not frames or frames[-1].filename.startswith(_PACKAGE + os.sep)
