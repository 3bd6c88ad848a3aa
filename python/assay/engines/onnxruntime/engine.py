"""ONNX Runtime through its Python package, with inputs and outputs bound ahead."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay._errors import AssayError
from assay.engines.base import (
    INPUT_SHAPES,
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
from assay.engines.loading import (
    Stages,
    bind_shapes,
    check_method,
    check_program,
    is_static,
    parse_input_shapes,
)
from assay.engines.onnxruntime.dimensions import read_dimension_names
from assay.engines.onnxruntime.profile import ProfiledSession
from assay.engines.onnxruntime.providers import CPU, add_providers, find_emulator
from assay.engines.packages import describe_package, import_package

NAME = "ONNX Runtime"
RECORD_PROVIDERS = "session.record_ep_graph_assignment_info"
DTYPES = {
    "tensor(double)": "float64",
    "tensor(float)": "float32",
    "tensor(float16)": "float16",
    "tensor(int64)": "int64",
    "tensor(int32)": "int32",
    "tensor(int16)": "int16",
    "tensor(int8)": "int8",
    "tensor(uint8)": "uint8",
    "tensor(uint16)": "uint16",
    "tensor(uint32)": "uint32",
    "tensor(uint64)": "uint64",
    "tensor(bool)": "bool",
}
OPTIMIZATION = {
    "disabled": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}
OPTIONS = (
    THREADS,
    INPUT_SHAPES,
    Option(
        "optimization",
        "string",
        "Graph optimizations.",
        values=tuple(OPTIMIZATION),
        default_value="all",
    ),
    Option(
        "provider",
        "string",
        "Execution provider; the CPU takes what it refuses.",
        default_value=CPU,
    ),
    Option("provider_options", "string", "The provider's own options, a JSON object."),
    Option(
        "spinning",
        "bool",
        "Whether idle threads spin (allow_spinning); default: the engine's own choice.",
    ),
    Option("memory_arena", "bool", "Whether the CPU keeps an arena.", default_value=True),
)
_CORRUPT = ("InvalidProtobuf", "NoModel", "NoSuchFile")
_REFUSALS = (
    "not a registered function/op",
    "No Op registered",
    "Could not find an implementation",
    "NOT_IMPLEMENTED",
    "Unsupported model IR version",
    "ONNX Runtime only *guarantees*",
)


class OnnxRuntimeEngine(Engine):
    """Loads .onnx files."""

    def prepare(self) -> None:
        """Imports onnxruntime and silences its log below errors."""
        self._ort: Any = import_package("onnxruntime", "onnxruntime")
        self._ort.set_default_logger_severity(3)

    def describe(self) -> Description:
        """Does not import onnxruntime; a provider is checked when a program asks for it."""
        version, build_id = describe_package("onnxruntime")
        return Description(
            name="onnxruntime",
            version=version,
            build_id=build_id,
            formats=("onnx",),
            options=OPTIONS,
            backends=[{"name": CPU, "is_available": True, "reason": ""}],
            tags=("profiler",),
            notes=["runs in Python's process: its memory starts higher than a C++ runner's"],
        )

    def load(self, request: LoadRequest) -> Session:
        """Makes an InferenceSession with what the options say."""
        check_method(request.method, NAME)
        check_program(request.entry, (".onnx",), NAME)
        return OnnxRuntimeSession(self._ort, request)


class BoundSession:
    """An InferenceSession with an I/O binding, which belongs to it.

    Inputs are bound to the caller's memory, which the CPU provider reads in place. Outputs of known
    shape are bound to memory of our own, which fetch gives out; others are ONNX Runtime's, and
    fetch copies them. So is an output that is an input of the graph: it is never written.
    """

    def __init__(self, ort: Any, session: Any, report: LoadReport) -> None:
        self._from_numpy = ort.OrtValue.ortvalue_from_numpy
        self._session = session
        self._names = [spec.name for spec in report.inputs]
        self._inputs: list[Any] = []
        self._binding = session.io_binding()
        self._outputs = [self._bind_output(spec) for spec in report.outputs]
        self._unbound = [
            spec.name
            for spec, output in zip(report.outputs, self._outputs, strict=True)
            if output is None
        ]

    def _bind_output(self, spec: TensorSpec) -> Array | None:
        if not is_static(spec) or spec.name in self._names:
            self._binding.bind_output(spec.name, "cpu")
            return None
        memory = np.zeros(spec.shape, spec.dtype)
        self._binding.bind_output(
            spec.name, "cpu", 0, memory.dtype, memory.shape, memory.ctypes.data
        )
        return memory

    def bind(self, inputs: Sequence[Array]) -> None:
        """Binds views of the arrays; nothing is copied.

        Outputs of unknown shape are bound again: the binding keeps what the last execution made
        for them, and takes no other shape.
        """
        self._inputs = [self._from_numpy(array) for array in inputs]
        for name, value in zip(self._names, self._inputs, strict=True):
            self._binding.bind_ortvalue_input(name, value)
        for name in self._unbound:
            self._binding.bind_output(name, "cpu")

    def execute(self) -> None:
        """Runs the binding."""
        self._session.run_with_iobinding(self._binding)

    def fetch(self) -> Sequence[Array]:
        """Returns the bound outputs; those that ONNX Runtime allocates are copied."""
        if not self._unbound:
            return self._outputs  # type: ignore[return-value]
        return [
            value.numpy() if bound is None else bound
            for bound, value in zip(self._outputs, self._binding.get_outputs(), strict=True)
        ]


class OnnxRuntimeSession(Session):
    """A program in a session; a second one while the profiler is on."""

    def __init__(self, ort: Any, request: LoadRequest) -> None:
        self._ort = ort
        self._request = request
        self._sizes = sizes_of_names(request)
        stages = Stages()
        with stages("create_session"):
            session = make_session(ort, request, self._sizes)
        with stages("bind_outputs"):
            self.report = describe_session(session, request)
            self.report.emulator = find_emulator(ort, request.options.get("provider", CPU))
            self._timed = BoundSession(ort, session, self.report)
        self.report.stages = stages.ns
        self._active: BoundSession | ProfiledSession = self._timed
        self._inputs: Sequence[Array] = ()

    def bind(self, inputs: Sequence[Array]) -> None:
        """Binds views of the arrays; nothing is copied."""
        self._inputs = inputs
        self._active.bind(inputs)

    def execute(self) -> None:
        """Runs the program."""
        self._active.execute()

    def fetch(self) -> Sequence[Array]:
        """The outputs where they lie."""
        return self._active.fetch()

    def start_profile(self) -> None:
        """Makes a second session, because profiling is fixed when one is made."""
        profiled = ProfiledSession(self._make_profiled)
        if self._inputs:
            profiled.warm_up(self._inputs)
        self._active = profiled

    def _make_profiled(self, prefix: Path) -> tuple[Any, BoundSession]:
        session = make_session(self._ort, self._request, self._sizes, prefix)
        return session, BoundSession(self._ort, session, self.report)

    def stop_profile(self, iterations: int) -> dict[str, Any]:
        """Reads what ONNX Runtime wrote."""
        assert isinstance(self._active, ProfiledSession)
        profiled, self._active = self._active, self._timed
        return profiled.report(iterations)


def make_session(
    ort: Any,
    request: LoadRequest,
    sizes: Mapping[str, int],
    profile_prefix: Path | None = None,
) -> Any:
    """An InferenceSession, with the named dimensions at the given sizes.

    Raises:
        AssayError: corrupt, unsupported, unavailable (the provider), engine.
    """
    options = request.options
    settings = ort.SessionOptions()
    settings.intra_op_num_threads = options.get("threads", 0)
    settings.graph_optimization_level = getattr(
        ort.GraphOptimizationLevel, OPTIMIZATION[options.get("optimization", "all")]
    )
    settings.enable_cpu_mem_arena = options.get("memory_arena", True)
    if "spinning" in options:
        settings.add_session_config_entry(
            "session.intra_op.allow_spinning", str(int(options["spinning"]))
        )
    if options.get("provider", CPU) != CPU:
        settings.add_session_config_entry(RECORD_PROVIDERS, "1")
    for library in request.libraries:
        _register(settings, library)
    if profile_prefix is not None:
        settings.enable_profiling = True
        settings.profile_file_prefix = str(profile_prefix)
    for dimension, size in sizes.items():
        settings.add_free_dimension_override_by_name(dimension, size)
    try:
        providers = add_providers(ort, settings, options)
        return ort.InferenceSession(str(request.entry), settings, providers)
    except Exception as error:
        raise readable_failure(error, request.entry) from error


def _register(settings: Any, library: Path) -> None:
    if not library.exists():
        raise AssayError(f"no library {library}", code="not_found")
    try:
        settings.register_custom_ops_library(str(library))
    except Exception as error:
        raise AssayError(
            f"library {library} does not load as custom operators of ONNX Runtime: {error}",
            code="unavailable",
        ) from error


def sizes_of_names(request: LoadRequest) -> dict[str, int]:
    """Sizes of named dimensions that the option input_shapes binds.

    Raises:
        AssayError: invalid_argument for an input that the program does not have.
    """
    text = request.options.get("input_shapes", "")
    names = read_dimension_names(request.entry) if text else {}
    shapes = parse_input_shapes(text, list(names)) if names else {}
    return {
        name: size
        for one, shape in shapes.items()
        for name, size in zip(names[one], shape, strict=False)
        if name
    }


def describe_session(session: Any, request: LoadRequest) -> LoadReport:
    """Names, types and shapes, and what is in force."""
    inputs = [_spec(one) for one in session.get_inputs()]
    shapes = parse_input_shapes(
        request.options.get("input_shapes", ""), [spec.name for spec in inputs]
    )
    settings = session.get_session_options()
    effective = dict(request.options) | {"providers": session.get_providers()}
    if settings.intra_op_num_threads > 0:
        effective["threads"] = settings.intra_op_num_threads
    wanted = request.options.get("provider", CPU)
    if wanted != CPU:
        effective |= count_by_provider(session.get_provider_graph_assignment_info())
    notes = []
    if wanted not in session.get_providers():
        notes.append(f"the provider {wanted} did not start; the CPU computes everything")
    return LoadReport(
        inputs=bind_shapes(inputs, shapes),
        outputs=[_spec(one) for one in session.get_outputs()],
        stages={},
        effective_options=effective,
        backends=session.get_providers()[:1],
        notes=notes,
    )


def count_by_provider(parts: Sequence[Any]) -> dict[str, Any]:
    """{operators_left, operators_taken}: what the CPU computes, by operator, and how much is not.

    `parts`: what ONNX Runtime tells of the graph, each with its provider.
    """
    left: Counter[str] = Counter()
    taken = 0
    for part in parts:
        nodes = [node.op_type for node in part.get_nodes()]
        if part.ep_name == CPU:
            left.update(nodes)
        else:
            taken += len(nodes)
    return {"operators_left": dict(sorted(left.items())), "operators_taken": taken}


def _spec(one: Any) -> TensorSpec:
    if one.type not in DTYPES:
        raise AssayError(
            f"'{one.name}' is of type {one.type}, which has no counterpart here",
            code="unsupported",
        )
    shape = [size if isinstance(size, int) else -1 for size in one.shape]
    return TensorSpec(one.name, DTYPES[one.type], shape)


def readable_failure(error: Exception, path: Path) -> Exception:
    """Assay's error for an exception of ONNX Runtime."""
    if isinstance(error, (AssayError, MemoryError)):
        return error
    kind, text = type(error).__name__, readable_text(str(error))
    said = text.replace(str(path), "")  # A folder may be called NOT_IMPLEMENTED.
    if any(mark in said for mark in _REFUSALS) or kind == "NotImplemented":
        return AssayError(f"ONNX Runtime does not run {path}: {text}", code="unsupported")
    if kind in _CORRUPT:
        return AssayError(f"{path} cannot be read: {text}; make it again", code="corrupt")
    return AssayError(f"{path} does not load: {text}", code="engine")


def readable_text(text: str) -> str:
    """ONNX Runtime's text without its prefix and the places in its sources."""
    text = re.sub(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ", "", text)
    text = re.sub(r"/\S+/onnxruntime/\S+:\d+ ", "", text)
    return " ".join(text.split())[:600]
