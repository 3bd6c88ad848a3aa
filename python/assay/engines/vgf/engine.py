"""VGF files, executed by Arm's scenario runner on an emulated neural GPU."""

import hashlib
import os
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
    Session,
)
from assay.engines.loading import Stages, check_method, check_program, refuse_libraries
from assay.engines.packages import describe_package, import_package
from assay.engines.ports import map_ports
from assay.engines.vgf.emulation import emulate, find_missing, make_folder
from assay.toolchain.file_formats.vgf import ENDING, VgfProgram, VgfTensor, read_program

NAME = "the VGF engine"
PACKAGE = "ai-ml-sdk-scenario-runner"
LAYERS = "ai-ml-emulation-layer-for-vulkan"
BACKEND = "lavapipe with Arm's emulation layers"
IDENTIFIER = b"VGF1"


class VgfEngine(Engine):
    """Loads .vgf files."""

    def prepare(self) -> None:
        """Points Vulkan's loader at the emulation and imports the scenario runner."""
        if (missing := find_missing()) is not None:
            raise AssayError(missing, code="unavailable")
        self._folder = make_folder()
        emulate(os.environ, self._folder.path)
        self._runner: Any = import_package("scenario_runner_py", PACKAGE)

    def describe(self) -> Description:
        """Describes the engine without importing it."""
        version, runner_id = describe_package(PACKAGE)
        layers_version, layers_id = describe_package(LAYERS)
        if (missing := find_missing()) is not None:
            raise AssayError(missing, code="unavailable")
        return Description(
            name="vgf",
            version=version,
            build_id=hashlib.sha256(f"{runner_id} {layers_id}".encode()).hexdigest(),
            formats=("vgf",),
            options=(THREADS,),
            backends=[{"name": BACKEND, "is_available": True, "reason": ""}],
            notes=[
                f"emulates a neural GPU (emulation layers {layers_version}): its times say nothing "
                "about one",
                "runs in Python's process: its memory starts higher than a C++ runner's",
            ],
        )

    def load(self, request: LoadRequest) -> Session:
        """A scenario with one dispatch of the graph."""
        check_method(request.method, NAME)
        refuse_libraries(request.libraries, NAME)
        check_program(request.entry, (ENDING,), NAME)
        return VgfSession(self._runner, request)


class VgfSession(Session):
    """A built scenario. Bind uploads, execute dispatches and waits, fetch downloads."""

    def __init__(self, runner: Any, request: LoadRequest) -> None:
        stages = Stages()
        with stages("read"):
            program = _read(request)
            self._map = map_ports(request.entry, program.inputs, program.outputs)
        with stages("build_scenario"):
            self._scenario, tensors = build_scenario(runner, program, request)
        self._inputs = list(zip(tensors, program.inputs, strict=False))
        self._outputs = tensors[len(program.inputs) :]
        self._results: list[Array] = []
        self.report = LoadReport(
            inputs=self._map.input_specs(),
            outputs=self._map.output_specs(),
            stages=stages.ns,
            effective_options={**request.options, "threads": 1},
            backends=[BACKEND],
            emulator="Arm's emulation of neural accelerators over a Vulkan driver",
            notes=["computes on the thread of the driver's queue while the caller's waits"],
        )

    def bind(self, inputs: Sequence[Array]) -> None:
        """Copies the inputs to the device."""
        arranged = self._map.arrange(inputs)
        for (tensor, spec), value in zip(self._inputs, arranged, strict=True):
            self._scenario.upload(tensor, value.reshape(spec.shape))

    def execute(self) -> None:
        """Dispatches the graph and waits for it."""
        self._scenario.run()

    def fetch(self) -> Sequence[Array]:
        """Copies the outputs to the host."""
        return self._map.collect([self._scenario.download(tensor) for tensor in self._outputs])


def _read(request: LoadRequest) -> VgfProgram:
    with request.entry.open("rb") as file:
        begins = file.read(len(IDENTIFIER))
    try:
        if begins != IDENTIFIER:
            raise ValueError(f"it does not begin with '{IDENTIFIER.decode()}'")
        return read_program(request.entry)
    except ValueError as error:
        raise AssayError(
            f"{request.entry} cannot be read: {error}; make it again", code="corrupt"
        ) from error


def build_scenario(runner: Any, program: VgfProgram, request: LoadRequest) -> tuple[Any, list[Any]]:
    """The scenario, and the ids of its tensors: inputs, then outputs.

    Raises:
        AssayError: engine, with what the scenario runner says.
    """
    builder = runner.ScenarioBuilder()
    tensors = [*program.inputs, *program.outputs]
    try:
        ids = [builder.add_tensor(list(t.shape), getattr(runner.Format, t.format)) for t in tensors]
        graph = runner.VgfInfo()
        graph.load_source(str(request.entry))
        dispatch = runner.DispatchVgfData(builder.add_vgf(graph))
        dispatch.bindings = [
            _binding(runner, tensor, number) for tensor, number in zip(tensors, ids, strict=True)
        ]
        builder.add_dispatch_vgf(dispatch)
        return builder.build(), ids
    except RuntimeError as error:
        text = " ".join(str(error).split())[:600]
        raise AssayError(f"{request.entry} does not load: {text}", code="engine") from error


def _binding(runner: Any, tensor: VgfTensor, number: Any) -> Any:
    kind = runner.DescriptorType.TensorArm
    return runner.TypedBinding(tensor.descriptor_set, tensor.binding, number, kind)
