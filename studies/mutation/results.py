"""Results of mutants, as score.py writes them and page.py reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Result:
    """Result of one mutant. `changed`: cases with other bits; `missed`: those that passed."""

    operator: str
    fault: str
    cases: int = 0
    changed: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    @property
    def is_counted(self) -> bool:
        """Tells whether it changes anything that a case looks at."""
        return bool(self.changed)

    @property
    def is_caught(self) -> bool:
        """True if any case found it."""
        return len(self.missed) < len(self.changed)


def results_of(document: dict[str, Any]) -> Iterator[Result]:
    """The mutants of a document."""
    for mutant in document["mutants"]:
        yield Result(**mutant)
