"""The engines in Python that come with Assay, and engines in files of the user's."""

from assay._errors import AssayError
from assay.aot.errors import RequestError
from assay.aot.plugins import import_object
from assay.engines.base import Engine

ENGINES = {
    "onnxruntime": "assay.engines.onnxruntime_engine:OnnxRuntimeEngine",
    "torch": "assay.engines.torch_engine:TorchEngine",
    "litert": "assay.engines.litert_engine:LiteRtEngine",
}


def make_engine(reference: str) -> Engine:
    """The engine of that name, or of "FILE.py:Class" or "package.module:Class".

    Raises:
        AssayError: not_found.
    """
    named = ENGINES.get(reference, reference)
    if ":" not in named:
        known = ", ".join(sorted(ENGINES))
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
