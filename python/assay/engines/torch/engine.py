"""PyTorch itself: exported programs in eager mode or compiled, and AOTInductor packages."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
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
    TensorSpec,
)
from assay.engines.loading import Stages, check_method, check_program
from assay.engines.packages import describe_package, import_package
from assay.engines.torch.profile import TorchProfile
from assay.toolchain.file_formats.pt2 import UntrustedFile, load_exported
from assay.toolchain.flows import aoti
from assay.toolchain.formats import AOTI_ENDING, TORCH_EXPORT_ENDING
from assay.toolchain.graph.written_inputs import find_written_inputs

NAME = "PyTorch"
OPTIONS = (
    THREADS,
    Option(
        "mode",
        "string",
        "How an exported program runs.",
        values=("eager", "compile"),
        default_value="eager",
    ),
)


class TorchEngine(Engine):
    """Loads exported programs and AOTInductor packages."""

    def prepare(self) -> None:
        """Imports torch, and the operators that quantized programs are made of."""
        self._torch: Any = import_package("torch", "torch")
        try:
            import torchao.quantization.pt2e.quantize_pt2e  # noqa: F401
        except ImportError:
            return

    def describe(self) -> Description:
        """Describes the engine without importing torch."""
        version, build_id = describe_package("torch")
        return Description(
            name="torch",
            version=version,
            build_id=build_id,
            formats=("pt2", "aoti"),
            options=OPTIONS,
            backends=[{"name": "CPU", "is_available": True, "reason": ""}],
            tags=("profiler",),
            notes=["runs in Python's process: its memory starts higher than a C++ runner's"],
        )

    def load(self, request: LoadRequest) -> Session:
        """An exported program or a package."""
        check_method(request.method, NAME)
        check_program(request.entry, (TORCH_EXPORT_ENDING, AOTI_ENDING), NAME)
        for library in request.libraries:
            self._load_library(library)
        self._forget_sources()
        if "threads" in request.options:
            self._torch.set_num_threads(request.options["threads"])
        return TorchSession(self._torch, request)

    def _forget_sources(self) -> None:
        """Drops the generated code of programs that were loaded before.

        torch keeps the source of every graph it ever made, for tracebacks: 0.3 MB a program of
        MobileNetV3's size, for good (seen with torch 2.13.0).
        """
        loader = getattr(self._torch.fx.graph_module, "_loader", None)
        getattr(loader, "eval_cache", {}).clear()

    def _load_library(self, library: Path) -> None:
        if not library.exists():
            raise AssayError(f"no library {library}", code="not_found")
        try:
            self._torch.ops.load_library(str(library))
        except OSError as error:
            text = f"library {library} does not load: {error}"
            raise AssayError(text, code="unavailable") from error


class TorchSession(Session):
    """A callable that takes and returns tensors, in inference mode."""

    def __init__(self, torch: Any, request: LoadRequest) -> None:
        self._torch = torch
        stages = Stages()
        with stages("read"):
            is_package = request.entry.name.endswith(AOTI_ENDING)
            loaded = (
                read_package(torch, request.entry) if is_package else read_exported(request.entry)
            )
            self._call, inputs, outputs, self._written = loaded
        mode = "aoti" if is_package else request.options["mode"]
        if mode == "compile":
            self._call = torch.compile(self._call)
        self._inputs: tuple[Any, ...] = ()
        self._outputs: list[Any] = []
        self._profile: TorchProfile | None = None
        self.report = LoadReport(
            inputs=inputs,
            outputs=outputs,
            stages=stages.ns,
            effective_options={
                **request.options,
                "mode": mode,
                "threads": torch.get_num_threads(),
            },
            backends=["CPU"],
            notes=(
                ["torch.compile compiles in the first inference, which takes seconds"]
                if mode == "compile"
                else []
            ),
        )

    def bind(self, inputs: Sequence[Array]) -> None:
        """Tensors over the arrays' memory; only inputs that the program writes to are copied."""
        tensors = [
            self._tensor(array, spec)
            for array, spec in zip(inputs, self.report.inputs, strict=True)
        ]
        for place in self._written:
            tensors[place] = tensors[place].clone()
        self._inputs = tuple(tensors)

    def _tensor(self, array: Array, spec: TensorSpec) -> Any:
        tensor = self._torch.from_numpy(array)
        return tensor.view(self._torch.bfloat16) if spec.dtype == "bfloat16" else tensor

    def execute(self) -> None:
        """Calls the program."""
        with self._torch.inference_mode():
            if self._profile is None:
                made = self._call(*self._inputs)
            else:
                made = self._profile.run(self._call, self._inputs)
        leaves = self._torch.utils._pytree.tree_leaves(made)
        self._outputs = [leaf for leaf in leaves if isinstance(leaf, self._torch.Tensor)]

    def fetch(self) -> Sequence[Any]:
        """The tensors, made contiguous where they are not."""
        return [output.contiguous() for output in self._outputs]

    def start_profile(self) -> None:
        """Starts torch's profiler in this process."""
        self._profile = TorchProfile(self._torch)

    def stop_profile(self, iterations: int) -> dict[str, Any]:
        """The recorded profile."""
        assert self._profile is not None
        profile, self._profile = self._profile, None
        return profile.report()


Loaded = tuple[Any, list[TensorSpec], list[TensorSpec], frozenset[int]]
"""The callable, its inputs and outputs, and the places of the inputs that it writes to."""


def read_exported(path: Path) -> Loaded:
    """Loads a file of torch.export.save.

    Raises:
        AssayError: corrupt; unsupported where it would run code of its own.
    """
    try:
        exported = load_exported(path)
    except UntrustedFile as error:
        raise AssayError(error.text, code="unsupported") from error
    except Exception as error:
        raise AssayError(
            f"{path} is no exported program that this torch reads: {type(error).__name__}: {error}",
            code="corrupt",
        ) from error
    nodes = {node.name: node for node in exported.graph.nodes}
    signature = exported.graph_signature
    inputs = [_spec_from_node(str(name), nodes) for name in signature.user_inputs]
    outputs = [
        _spec_from_node(name, nodes)
        for name in signature.user_outputs
        if isinstance(name, str) and hasattr(nodes[name].meta.get("val"), "dtype")
    ]
    return exported.module(), inputs, outputs, frozenset(find_written_inputs(exported))


def _spec_from_node(name: str, nodes: Mapping[str, Any]) -> TensorSpec:
    from assay.toolchain.dtypes import dtype_name

    value = nodes[name].meta["val"]
    shape = [size if isinstance(size, int) else -1 for size in value.shape]
    return TensorSpec(name, dtype_name(value.dtype), shape)


def read_package(torch: Any, path: Path) -> Loaded:
    """Loads a package of AOTInductor, which has its signature in Assay's metadata.

    Raises:
        AssayError: corrupt, or unsupported for a package without the note.
    """
    try:
        package = torch._inductor.aoti_load_package(str(path))
        metadata = dict(package.loader.get_metadata())
    except Exception as error:
        raise AssayError(
            f"{path} is no AOTInductor package that this torch and processor run: {error}",
            code="corrupt",
        ) from error
    if aoti.SIGNATURE not in metadata:
        raise AssayError(
            f"{path} does not say what its inputs are: make it by assay aot --recipe torch/aoti",
            code="unsupported",
        )
    boundary = json.loads(metadata[aoti.SIGNATURE])
    inputs, outputs = (
        [TensorSpec(one["name"], one["dtype"], one["shape"]) for one in boundary[side]]
        for side in ("inputs", "outputs")
    )
    return package, inputs, outputs, frozenset(boundary.get("written", []))
