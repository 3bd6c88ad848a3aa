"""TOSA programs, executed by the reference model of tosa-tools."""

from collections.abc import Sequence
from typing import Any

from assay._errors import AssayError
from assay.engines.base import (
    THREADS,
    Array,
    Description,
    Engine,
    LoadReport,
    LoadRequest,
    Option,
    Session,
)
from assay.engines.loading import Stages, check_method, check_program, refuse_libraries
from assay.engines.packages import describe_package, import_package
from assay.engines.ports import map_ports
from assay.toolchain.file_formats.tosa import ENDING, TosaProgram, read_program

NAME = "the TOSA reference model"
PACKAGE = "tosa-tools"
OPTIONS = (
    THREADS,
    Option(
        "precise",
        "bool",
        "Whether floating point is computed in float64 (the model's precise mode).",
        default_value=False,
    ),
)


class TosaEngine(Engine):
    """Loads .tosa files."""

    def prepare(self) -> None:
        """Imports the reference model."""
        self._model: Any = import_package("tosa_reference_model", PACKAGE)

    def describe(self) -> Description:
        """Describes the engine without importing it."""
        version, build_id = describe_package(PACKAGE)
        return Description(
            name="tosa",
            version=version,
            build_id=build_id,
            formats=("tosa",),
            options=OPTIONS,
            backends=[{"name": "reference model", "is_available": True, "reason": ""}],
            notes=[
                "emulates no chip: it checks each operator, so its times say nothing about one",
                "runs in Python's process: its memory starts higher than a C++ runner's",
                "the package offers no profiler of operators",
            ],
        )

    def load(self, request: LoadRequest) -> Session:
        """A program whose tensors and operators were looked at."""
        check_method(request.method, NAME)
        refuse_libraries(request.libraries, NAME)
        check_program(request.entry, (ENDING,), NAME)
        return TosaSession(self._model, request)


class TosaSession(Session):
    """A program as bytes, which the reference model reads anew in every inference."""

    def __init__(self, model: Any, request: LoadRequest) -> None:
        self._model = model
        self._is_precise = int(request.options.get("precise", False))
        stages = Stages()
        with stages("read"):
            self._content = request.entry.read_bytes()
        with stages("parse"):
            program = self._parse(request)
            self._map = map_ports(request.entry, program.inputs, program.outputs)
        self._inputs: list[Array] = []
        self._outputs: Sequence[Array] = ()
        self.report = LoadReport(
            inputs=self._map.input_specs(),
            outputs=self._map.output_specs(),
            stages=stages.ns,
            effective_options={**request.options, "threads": 1},
            backends=["reference model"],
            emulator="TOSA's reference model",
            notes=[
                f"TOSA {program.version}, {program.operators.total()} operators",
                *(["computes on one thread"] if request.options.get("threads", 1) > 1 else []),
            ],
        )

    def _parse(self, request: LoadRequest) -> TosaProgram:
        try:
            return read_program(self._content)
        except ValueError as error:
            raise AssayError(
                f"{request.entry} cannot be read: {error}; make it again", code="corrupt"
            ) from error

    def bind(self, inputs: Sequence[Array]) -> None:
        """Puts the inputs in the program's order and types."""
        self._inputs = self._map.arrange(inputs)

    def execute(self) -> None:
        """Runs the model.

        Raises:
            AssayError: engine, when the graph is invalid or its result is unpredictable.
        """
        self._outputs, status = self._model.run(
            self._content, self._inputs, verbosity="NONE", precise_mode=self._is_precise
        )
        if status != self._model.GraphStatus.TOSA_VALID:
            raise AssayError(f"the reference model ends with {status.name}", code="engine")

    def fetch(self) -> Sequence[Array]:
        """The outputs in the model's order and types."""
        return self._map.collect(self._outputs)
