"""The export recipes that ExecuTorch's own backends register, as Assay recipes.

`executorch/recipe:TYPE` runs the stages of ExecuTorch's export session one by one, so that its
costs and graphs are seen like those of every other recipe.
"""

import importlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from assay.toolchain.errors import MissingDependency, RequestError, Unsupported
from assay.toolchain.suggest import unknown_name

if TYPE_CHECKING:
    from assay.toolchain.tensors import Sample

FLOW = "executorch_recipe"
PROVIDERS = ("xnnpack", "apple.coreml", "apple.coreai", "arm", "qualcomm")
_QUANTIZE = ("source_transform", "quantize")
_EXPORT = ("torch_export",)
_SERIALIZE = ("to_executorch",)


@cache
def load_provider(name: str) -> str | None:
    """Lets a backend register its recipes; returns why it cannot, or None."""
    try:
        importlib.import_module(f"executorch.backends.{name}.recipes")
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def broken_providers() -> dict[str, str]:
    """The backends that cannot register their recipes, with the reason."""
    reasons = {name: load_provider(name) for name in PROVIDERS}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def recipe_types(until: str | None = None) -> dict[str, Any]:
    """The recipe types by name, of every backend or of those up to the one that has `until`.

    Importing all backends takes seconds.

    Raises:
        MissingDependency: executorch or its recipes are not installed.
    """
    types: dict[str, Any] = {}
    for name in PROVIDERS:
        load_provider(name)
        types = _registered_types()
        if until in types:
            break
    return types


def _registered_types() -> dict[str, Any]:
    try:
        from executorch.export import recipe_registry
    except ImportError as error:
        raise MissingDependency(f"executorch has no export recipes here: {error}") from error
    return {
        kind.value: kind
        for backend in recipe_registry.list_backends()
        for kind in recipe_registry.get_supported_recipes(backend)
    }


def make_recipe(name: str, options: dict[str, Any]) -> Any:
    """The ExportRecipe called `name`.

    Raises:
        RequestError: no such recipe, or it does not read an option.
        MissingDependency: the backend cannot make it here.
    """
    kinds = recipe_types(until=name)
    if name not in kinds:
        raise RequestError(unknown_name("executorch recipe", name, kinds))
    from executorch.export import ExportRecipe

    with _refuse_ignored_options():
        try:
            return ExportRecipe.get_recipe(kinds[name], **options)
        except (ImportError, OSError) as error:
            raise MissingDependency(f"the recipe {name} cannot be made here: {error}") from error


def is_quantizing(recipe: Any) -> bool:
    """True if the recipe changes the model before it is exported."""
    quantization = recipe.quantization_recipe
    return quantization is not None and bool(
        quantization.quantizers or quantization.ao_quantization_configs
    )


def run_quantize(recipe: Any, model: Any, calibration: "list[Sample]") -> Any:
    """The quantized module; the first calibration sample is what the graph is captured with."""
    if model.exported is not None:
        raise Unsupported("executorch's recipes quantize modules, not exported programs")
    return _run(recipe, _QUANTIZE, model.module, calibration)


def run_export(recipe: Any, module: Any, example: "Sample") -> Any:
    """The exported program."""
    return _run(recipe, _EXPORT, module, [example])


def run_lower(recipe: Any, exported: Any) -> Any:
    """The edge program, through whichever of executorch's lowering flows the recipe wants."""
    others = (*_QUANTIZE, *_EXPORT, *_SERIALIZE)
    session_stages = _stages(recipe, None, [])
    return _run_stages([s for name, s in session_stages if name not in others], exported, [])


def _run(recipe: Any, names: tuple[str, ...], module: Any, samples: "list[Sample]") -> Any:
    stages = [stage for name, stage in _stages(recipe, module, samples) if name in names]
    return _run_stages(stages, module, samples)


def _run_stages(stages: list[Any], data: Any, samples: "list[Sample]") -> Any:
    from executorch.export.stages import PipelineArtifact

    artifact = PipelineArtifact({"forward": data}, {"example_inputs": {"forward": samples}})
    for stage in stages:
        stage.run(artifact)
        artifact = stage.get_artifacts()
    result = artifact.data
    return result["forward"] if isinstance(result, dict) else result


def _stages(recipe: Any, module: Any, samples: "list[Sample]") -> list[tuple[str, Any]]:
    """The session's stages in their order, each with its name."""
    import torch
    from executorch.export import ExportSession

    session = ExportSession(module or torch.nn.Identity(), samples, export_recipe=recipe)
    return [(str(kind.value), s) for kind, s in session.get_all_registered_stages().items()]


class _IgnoredOptions(logging.Handler):
    """Keeps executorch's warnings about options that a recipe does not read."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if "ignoring unexpected" in record.getMessage():
            self.messages.append(record.getMessage())


@contextmanager
def _refuse_ignored_options() -> Iterator[None]:
    """Turns the warnings into an error: no option is swallowed."""
    root, handler = logging.getLogger(), _IgnoredOptions()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
    if handler.messages:
        raise RequestError(handler.messages[0])
