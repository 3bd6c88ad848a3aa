"""The result of every verb: a document, its text, and its display in a notebook."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from assay._errors import AssayError
from assay._frames import pandas_module, write_parquet
from assay._markdown import html_from_markdown

if TYPE_CHECKING:
    import pandas as pd


def empty() -> Mapping[str, Any]:
    """A mapping without entries that nobody can change."""
    return MappingProxyType({})


@dataclass(frozen=True, kw_only=True, repr=False)
class Result:
    """The answer of a verb.

    `str()` and `print()` give what the command line prints, at 120 columns; a notebook shows a
    table. Equality is that of the findings, not of their texts.

    Attributes:
        exit_code: the `assay` program's: 0 all well, 1 done with findings, 5 nothing matched,
            6 cannot tell.
        document: all of the JSON that the program wrote.
        console: what the console shows.
        markdown: the same for GitHub and notebooks.
        messages: warnings and errors that the program wrote to stderr, a line each.
        store: where the run is kept; None: the default.
    """

    exit_code: int = 0
    document: Mapping[str, Any] = field(default_factory=empty, repr=False, compare=False)
    console: str = field(default="", repr=False, compare=False)
    markdown: str = field(default="", repr=False, compare=False)
    messages: tuple[str, ...] = field(default=(), repr=False, compare=False)
    store: str | None = field(default=None, repr=False, compare=False)

    @property
    def rows(self) -> Sequence[Any]:
        """The items that its table has rows for; each class gives their type."""
        return ()

    def to_pandas(self) -> "pd.DataFrame":
        """A pandas.DataFrame with one row for each of `rows`.

        Raises:
            UnavailableError: pandas is not installed.
        """
        pd = pandas_module("to_pandas")
        return pd.DataFrame([self._row(row) for row in self.rows])

    def to_parquet(self, path: str | Path) -> Path:
        """Writes the frame of to_pandas() as a Parquet file for notebooks and databases.

        Raises:
            UnavailableError: pandas or pyarrow is not installed, or the file cannot be written.
        """
        about = {"schema": self.document.get("schema", ""), "run": getattr(self, "run_id", "")}
        return write_parquet(self.to_pandas(), path, about)

    def _row(self, row: Any) -> dict[str, Any]:
        """The columns of a row: its fields that are numbers or texts."""
        values = {one.name: getattr(row, one.name) for one in dataclasses.fields(row)}
        return {
            name: value
            for name, value in values.items()
            if value is None or isinstance(value, (str, int, float))
        }

    def __repr__(self) -> str:
        count = len(self.rows)
        counted = f"{count} row{'' if count == 1 else 's'}"
        run = getattr(self, "run_id", "")
        where = f" of run {run}" if run else ""
        return f"<{type(self).__name__}{where}: {counted}, exit code {self.exit_code}>"

    def __str__(self) -> str:
        return self.console.rstrip("\n") or repr(self)

    def _repr_markdown_(self) -> str:
        return self.markdown

    def _repr_html_(self) -> str:
        return html_from_markdown(self.markdown)

    def _repr_pretty_(self, printer: Any, is_cycle: bool) -> None:
        """Returns the text that IPython shows in a terminal."""
        printer.text(repr(self) if is_cycle else str(self))


def write_text(path: str | Path, text: str) -> Path:
    """Writes the file.

    Raises:
        UnavailableError: it cannot be written.
    """
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise AssayError(f"cannot write {path}: {error.strerror}", code="unavailable") from error
    return Path(path)
