"""What Assay raises."""


class AssayError(Exception):
    """A failure that tells what to do about it.

    Attributes:
        code: what the caller can do: invalid_argument, not_found, unsupported, unavailable,
            timeout, crashed, corrupt, exhausted, engine or internal.
        stage: how far the work had come ("load", "first", "steady", …); empty where it has none.
        message: what happened and how to mend it.
    """

    def __init__(self, message: str, *, code: str = "internal", stage: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.stage = stage
        self.message = message

    def __str__(self) -> str:
        where = f" while in stage {self.stage}" if self.stage else ""
        return f"{self.message} [{self.code}{where}]"

    def __reduce__(self) -> tuple[object, ...]:
        return _error_of, (self.message, self.code, self.stage)


def _error_of(message: str, code: str, stage: str) -> AssayError:
    return AssayError(message, code=code, stage=stage)
