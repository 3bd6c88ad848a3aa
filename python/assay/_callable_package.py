"""Packages that are also verbs: `assay.conform(…)` beside `assay.conform.models`."""

import importlib
import sys
from types import ModuleType
from typing import Any


class CallablePackage(ModuleType):
    """A package whose call is the function of its name in assay._verbs."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Calls the verb."""
        return self.verb(*arguments, **options)

    @property
    def verb(self) -> Any:
        """The function itself, with its signature and its help."""
        verbs = importlib.import_module("assay._verbs")
        return getattr(verbs, self.__name__.rpartition(".")[2])

    @property
    def __signature__(self) -> Any:
        return importlib.import_module("inspect").signature(self.verb)


def make_callable(name: str) -> None:
    """Lets the package `name`, which is being imported, be called as the verb of its name."""
    sys.modules[name].__class__ = CallablePackage
