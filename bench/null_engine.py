"""An engine that does nothing: what the loop costs an engine in Python.

assay engine add null@1 --file bench/null_engine.py:NullEngine
echo > build/none.null
assay bench build/none.null --engine null@1 --launches 3 --iterations 5000 --warmup 100
"""

from collections.abc import Sequence

import numpy as np

from assay.engines import Description, Engine, LoadReport, LoadRequest, Session, TensorSpec


class NullSession(Session):
    """One array in, one array out, and no work."""

    def __init__(self) -> None:
        self._output = np.zeros((1, 8), np.float32)
        self.report = LoadReport(
            inputs=[TensorSpec("x", "float32", [1, 8])],
            outputs=[TensorSpec("y", "float32", [1, 8])],
            stages={},
        )

    def bind(self, inputs: Sequence[np.ndarray]) -> None:
        """Takes the inputs and leaves them."""

    def execute(self) -> None:
        """Returns at once."""

    def fetch(self) -> Sequence[np.ndarray]:
        """Returns zeros."""
        return [self._output]


class NullEngine(Engine):
    """Loads whatever is named *.null."""

    def describe(self) -> Description:
        """A name and a format."""
        return Description(name="null", version="1", build_id=np.__version__, formats=("null",))

    def load(self, request: LoadRequest) -> Session:
        """Reads nothing."""
        return NullSession()
