"""The engines in Python that come with Assay, and engines in files of the user's."""

import importlib
import importlib.util
import sys
from pathlib import Path

from assay._errors import AssayError
from assay.engines.base import Engine

ENGINES = {
    "onnxruntime": "assay.engines.onnxruntime_engine:OnnxRuntimeEngine",
    "torch": "assay.engines.torch_engine:TorchEngine",
    "litert": "assay.engines.litert_engine:LiteRtEngine",
}


def make_engine(reference: str) -> Engine:
    """The engine of that name, or of "FILE.py:Class" or "package.module:Class".

    Raises:
        AssayError: not_found, or unavailable when its module does not import.
    """
    place, _, name = ENGINES.get(reference, reference).rpartition(":")
    if not place:
        known = ", ".join(sorted(ENGINES))
        raise AssayError(
            f"no engine '{reference}' in Python: take {known}, or FILE.py:Class", code="not_found"
        )
    module = _import_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    found = getattr(module, name, None)
    if not isinstance(found, type) or not issubclass(found, Engine):
        raise AssayError(f"{place} has no class {name} that is an Engine", code="not_found")
    return found()


def _import_file(path: Path) -> object:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise AssayError(f"no file {path}", code="not_found")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
