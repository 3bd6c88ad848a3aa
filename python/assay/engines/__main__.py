"""The runner of an engine in Python.

    python -m assay.engines onnxruntime
    python -m assay.engines my_engine.py:MyEngine --describe

Behind the engine stand a runner's own arguments: src/assay/runner/runner.h.
"""

import gc
import signal
import sys

from assay._errors import AssayError, UnavailableError

COULD_NOT_RUN = 3
HOW_TO_BUILD = "run `make build` in the checkout, or install the wheel of Assay"


def main(arguments: list[str]) -> int:
    """Runs to the end of the conversation; returns the exit code of a runner."""
    if not arguments:
        sys.stderr.write("usage: python -m assay.engines ENGINE|FILE.py:Class [--describe]\n")
        return 2
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return _run(arguments[0], arguments[1:])
    except AssayError as error:
        sys.stderr.write(f"{error.message}\n")
        return COULD_NOT_RUN


def _run(reference: str, arguments: list[str]) -> int:
    try:
        from assay import _host
    except ImportError as error:
        raise UnavailableError(f"engines in Python need assay._host: {HOW_TO_BUILD}") from error
    from assay.engines.adapter import Adapter
    from assay.engines.registry import make_engine

    engine = make_engine(reference)
    only_describes = "--describe" in arguments
    if not only_describes:
        engine.prepare()
    adapter = Adapter(engine, tells_dependencies=only_describes)
    # No collection in a timed inference: sessions are collected when they are unloaded.
    gc.collect()
    gc.freeze()
    gc.disable()
    return _host.run(adapter, [f"assay-runner-{reference}", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
