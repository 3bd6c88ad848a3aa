"""The exceptions that Assay raises."""

from typing import Any

_EXIT_CODES = {"invalid_argument": 2, "not_found": 2, "internal": 4, "timeout": 124}
_EXIT_UNAVAILABLE = 3


class AssayError(Exception):
    """A failure that tells what to do about it.

    Raising it makes the family that its code belongs to: UsageError for what the caller can mend,
    InternalError for a bug of Assay, UnavailableError for all else.

    Attributes:
        code: what the caller can do: invalid_argument, not_found, unsupported, unavailable,
            timeout, crashed, corrupt, conflict, exhausted, engine or internal.
        stage: how far the work had come ("load", "first", "steady", …); empty if it has none.
        message: what happened and how to mend it.
        exit_code: what the `assay` program ends with for such a failure.
    """

    def __new__(cls, *args: Any, code: str = "internal", **kwargs: Any) -> "AssayError":
        """Makes an instance of the code's family."""
        return super().__new__(_family_from_code(code) if cls is AssayError else cls)

    def __init__(
        self,
        message: str,
        *,
        code: str = "internal",
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
    """The call asks for what cannot be, or names what does not exist; exit code 2 or 5."""


class UnavailableError(AssayError):
    """An engine, a program, a file or the machine does not do its part; exit code 3 or 124."""


class InternalError(AssayError):
    """A bug of Assay; exit code 4."""


def _family_from_code(code: str) -> type[AssayError]:
    if code in ("invalid_argument", "not_found"):
        return UsageError
    return InternalError if code == "internal" else UnavailableError


def _make_error(message: str, code: str, stage: str, exit_code: int) -> AssayError:
    return AssayError(message, code=code, stage=stage, exit_code=exit_code)
