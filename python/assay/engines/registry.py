"""The engines in Python that come with Assay, and engines in files of the user's."""

import json
from functools import cache
from importlib import resources

from assay._errors import AssayError
from assay.engines.base import Engine
from assay.toolchain.errors import RequestError
from assay.toolchain.models.plugins import import_object


@cache
def known_engines() -> dict[str, str]:
    """Places of the classes of Assay's engines in Python, by engine name: data/engines.json."""
    document = json.loads(resources.files("assay").joinpath("data/engines.json").read_text())
    return {entry["name"]: entry["python"] for entry in document["engines"] if "python" in entry}


def make_engine(reference: str) -> Engine:
    """The engine of that name, or of "FILE.py:Class" or "package.module:Class".

    Raises:
        AssayError: not_found.
    """
    engines = known_engines()
    named = engines.get(reference, reference)
    if ":" not in named:
        known = ", ".join(sorted(engines))
        raise AssayError(
            f"no engine '{reference}' in Python: take {known}, or FILE.py:Class", code="not_found"
        )
    try:
        found = import_object(named)
    except RequestError as error:
        raise AssayError(str(error), code="not_found") from error
    if not isinstance(found, type) or not issubclass(found, Engine):
        raise AssayError(f"{named} is no class that is an Engine", code="not_found")
    return found()
