"""An engine in Python, as small as one can be: y = x W + b, in numpy.

assay engine add toy@1 --file examples/engines/toy_engine.py:ToyEngine
assay engine check toy@1 --program examples/engines/net.toy.json
assay bench examples/engines/net.toy.json --engine toy@1
"""

import json
from collections.abc import Sequence

import numpy as np

from assay.engines import (
    AssayError,
    Description,
    Engine,
    LoadReport,
    LoadRequest,
    Session,
    TensorSpec,
)
from assay.engines.loading import Stages, check_method, check_program, refuse_libraries


class ToySession(Session):
    """A matrix and a vector, ready to be applied."""

    def __init__(self, request: LoadRequest) -> None:
        stages = Stages()
        with stages("read"):
            try:
                program = json.loads(request.entry.read_text())
                self._weight = np.array(program["weight"], np.float32)
                self._bias = np.array(program["bias"], np.float32)
            except (ValueError, KeyError, TypeError) as error:
                raise AssayError(f"{request.entry} is no toy: {error}", code="corrupt") from error
        rows, columns = self._weight.shape
        self._output = np.zeros((1, columns), np.float32)
        self.report = LoadReport(
            inputs=[TensorSpec("x", "float32", [1, rows])],
            outputs=[TensorSpec("y", "float32", [1, columns])],
            stages=stages.ns,
        )

    def bind(self, inputs: Sequence[np.ndarray]) -> None:
        """Inputs lie in the engine's memory when bind returns: here, where they lie already."""
        (self._input,) = inputs

    def execute(self) -> None:
        """Computes to the end; an engine that computes in the background waits here."""
        np.matmul(self._input, self._weight, out=self._output)
        self._output += self._bias

    def fetch(self) -> Sequence[np.ndarray]:
        """The outputs, valid until the next execute."""
        return [self._output]


class ToyEngine(Engine):
    """Loads what is named *.toy.json."""

    def describe(self) -> Description:
        """Name, version and formats; options and powers where there are some."""
        return Description(name="toy", version="1", build_id=np.__version__, formats=("toy",))

    def load(self, request: LoadRequest) -> Session:
        """Refuses what cannot be, then loads."""
        check_method(request.method, "toy")
        refuse_libraries(request.libraries, "toy")
        check_program(request.entry, (".toy.json",), "toy")
        return ToySession(request)
