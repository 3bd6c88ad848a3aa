"""The exceptions that Assay raises."""

from typing import Any

from assay._literals import ErrorCode

_EXIT_CODES: dict[ErrorCode, int] = {
    "invalid_argument": 2,
    "not_found": 2,
    "internal": 4,
    "timeout": 124,
}
_EXIT_UNAVAILABLE = 3


class AssayError(Exception):
    """A failure, with a message that says how to fix it.

    Calling it makes an instance of the subclass that its code belongs to: UsageError if the caller
    can fix the call, InternalError for a bug of Assay, UnavailableError for all else.

    Attributes:
        code: the kind of failure; see assay.ErrorCode.
        stage: the stage that failed ("load", "first", "steady", …); empty if there is none.
        message: what happened and how to fix it.
        exit_code: the exit code of the `assay` program for this failure.
    """

    def __new__(cls, *args: Any, code: ErrorCode = "internal", **kwargs: Any) -> "AssayError":
        """Makes an instance of the subclass for the code."""
        return super().__new__(_class_from_code(code) if cls is AssayError else cls)

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode = "internal",
        stage: str = "",
        exit_code: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.stage = stage
        self.message = message
        known = _EXIT_CODES.get(code, _EXIT_UNAVAILABLE)
        self.exit_code = known if exit_code is None else exit_code

    def __str__(self) -> str:
        where = f" while in stage {self.stage}" if self.stage else ""
        return f"{self.message} [{self.code}{where}]"

    def __reduce__(self) -> tuple[object, ...]:
        return _make_error, (self.message, self.code, self.stage, self.exit_code)


class UsageError(AssayError):
    """The call has wrong arguments or names something unknown; exit code 2 or 5."""


class UnavailableError(AssayError):
    """An engine, a program, a file or the machine is not available; exit code 3 or 124."""


class InternalError(AssayError):
    """A bug in Assay; exit code 4."""


def _class_from_code(code: ErrorCode) -> type[AssayError]:
    if code in ("invalid_argument", "not_found"):
        return UsageError
    return InternalError if code == "internal" else UnavailableError


def _make_error(message: str, code: ErrorCode, stage: str, exit_code: int) -> AssayError:
    return AssayError(message, code=code, stage=stage, exit_code=exit_code)
