"""LiteRT (TensorFlow Lite) through its Python interpreter."""

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
    parse_input_shapes,
    refuse_libraries,
)
from assay.engines.packages import describe_package, import_package
from assay.toolchain.file_formats.litert_plan import Plan, plan_from_interpreter

NAME = "LiteRT"
IDENTIFIER = b"TFL3"
OPTIONS = (
    THREADS,
    INPUT_SHAPES,
    Option(
        "xnnpack",
        "bool",
        "Whether XNNPACK takes what it can; else LiteRT's own kernels.",
        default_value=True,
    ),
)
_REFUSALS = ("unsupported", "not supported", "unresolved custom op", "didn't find op")


class LiteRtEngine(Engine):
    """Loads .tflite files."""

    def prepare(self) -> None:
        """Imports the interpreter."""
        self._litert: Any = import_package("ai_edge_litert.interpreter", "ai-edge-litert")

    def describe(self) -> Description:
        """Describes the engine without importing it."""
        version, build_id = describe_package("ai-edge-litert")
        return Description(
            name="litert",
            version=version,
            build_id=build_id,
            formats=("tflite",),
            options=OPTIONS,
            backends=[{"name": "XNNPACK", "is_available": True, "reason": ""}],
            notes=[
                "runs in Python's process: its memory starts higher than a C++ runner's",
                "the package offers no profiler of operators",
            ],
        )

    def load(self, request: LoadRequest) -> Session:
        """An interpreter with its tensors allocated."""
        check_method(request.method, NAME)
        refuse_libraries(request.libraries, NAME)
        check_program(request.entry, (".tflite",), NAME)
        with request.entry.open("rb") as file:
            if file.read(8)[4:] != IDENTIFIER:
                raise AssayError(
                    f"{request.entry} is no TensorFlow Lite program: '{IDENTIFIER.decode()}' is "
                    "not at byte 4",
                    code="corrupt",
                )
        return LiteRtSession(self._litert, request)


class LiteRtSession(Session):
    """An interpreter. Bind copies into its tensors; fetch looks at them where they lie."""

    def __init__(self, litert: Any, request: LoadRequest) -> None:
        options = request.options
        stages = Stages()
        with stages("interpreter"):
            self._interpreter = make_interpreter(litert, request.entry, options)
        details = self._interpreter.get_input_details()
        inputs = [spec_from_detail(one) for one in details]
        shapes = parse_input_shapes(options.get("input_shapes", ""), [one.name for one in inputs])
        with stages("allocate_tensors"):
            for one, spec in zip(details, bind_shapes(inputs, shapes), strict=True):
                if spec.name in shapes:
                    self._interpreter.resize_tensor_input(one["index"], spec.shape, strict=True)
            self._allocate(request.entry)
        self._indices = [one["index"] for one in details]
        outputs = self._interpreter.get_output_details()
        self._views = [self._interpreter.tensor(one["index"]) for one in outputs]
        self._shapes = [tuple(spec.shape) for spec in bind_shapes(inputs, shapes)]
        plan = plan_from_interpreter(self._interpreter)
        has_xnnpack = options.get("xnnpack", True)
        self.report = LoadReport(
            inputs=bind_shapes(inputs, shapes),
            outputs=[spec_from_detail(one) for one in outputs],
            stages=stages.ns,
            effective_options=effective_options(options, plan),
            backends=backends_from_plan(plan),
            notes=[plan.to_text()] if has_xnnpack else [],
        )

    def _allocate(self, path: Path) -> None:
        try:
            self._interpreter.allocate_tensors()
        except (RuntimeError, ValueError) as error:
            raise readable_failure(error, path) from error

    def bind(self, inputs: Sequence[Array]) -> None:
        """Copies the inputs; a dimension that was open takes the size of what is given."""
        for place, (index, array) in enumerate(zip(self._indices, inputs, strict=True)):
            if self._shapes[place] != array.shape:
                self._interpreter.resize_tensor_input(index, array.shape)
                self._interpreter.allocate_tensors()
                self._shapes[place] = array.shape
            self._interpreter.set_tensor(index, array)

    def execute(self) -> None:
        """Invokes."""
        self._interpreter.invoke()

    def fetch(self) -> Sequence[Array]:
        """Views of the output tensors."""
        return [view() for view in self._views]

    def reset_state(self) -> None:
        """Forgets the values of variables."""
        self._interpreter.reset_all_variables()


def effective_options(options: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    """The options; without XNNPACK also what it was to take and LiteRT's own kernels compute."""
    if options.get("xnnpack", True):
        return dict(options)
    left = dict(sorted((plan.taken + plan.left).items()))
    return {**options, "operators_left": left, "operators_taken": 0}


def backends_from_plan(plan: Plan) -> list[str]:
    """Lists who computes: XNNPACK the operators that it took, LiteRT's own kernels the rest."""
    parties = (("XNNPACK", plan.taken), ("LiteRT", plan.left))
    return [name for name, operators in parties if operators]


def make_interpreter(litert: Any, path: Path, options: Any) -> Any:
    """Errors: corrupt, unsupported."""
    resolvers = litert.OpResolverType
    resolver = (
        resolvers.AUTO
        if options.get("xnnpack", True)
        else resolvers.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    )
    try:
        return litert.Interpreter(
            model_path=str(path),
            num_threads=options.get("threads"),
            experimental_op_resolver_type=resolver,
        )
    except (RuntimeError, ValueError) as error:
        raise readable_failure(error, path) from error


def readable_failure(error: Exception, path: Path) -> AssayError:
    """Assay's error for an exception of the interpreter."""
    text = " ".join(str(error).split())[:600]
    said = text.replace(str(path), "").lower()  # A folder may be called "unsupported".
    if any(mark in said for mark in _REFUSALS):
        return AssayError(f"LiteRT does not run {path}: {text}", code="unsupported")
    return AssayError(f"{path} cannot be read: {text}; make it again", code="corrupt")


def spec_from_detail(detail: Any) -> TensorSpec:
    """A tensor of the program; -1 where its signature leaves a dimension open."""
    dtype = detail["dtype"].__name__.rstrip("_")
    shape = [int(size) for size in detail["shape_signature"]]
    return TensorSpec(detail["name"], dtype, shape, quantization_from_detail(detail))


def quantization_from_detail(detail: Any) -> dict[str, Any] | None:
    """Scales and zero points of an integer tensor that stands for real values."""
    found = detail.get("quantization_parameters", {})
    scales = [float(scale) for scale in found.get("scales", ())]
    if not scales or np.dtype(detail["dtype"]).kind not in "iu":
        return None
    return {
        "scales": scales,
        "zero_points": [int(point) for point in found["zero_points"]],
        "axis": int(found["quantized_dimension"]) if len(scales) > 1 else -1,
    }
