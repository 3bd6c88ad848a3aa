"""Recipes: what quantizes and lowers a model. Presets are data/recipes.json."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from assay.aot import native, openvino_ir
from assay.aot.errors import RequestError, reading
from assay.aot.plugins import load_plugins
from assay.aot.suggest import check_keys, unknown_name

SCHEMA = "assay/recipes/1"
NATIVE = "executorch/recipe:"
"""Prefix of the export recipes that ExecuTorch's backends register themselves."""

LOWERING_FLOWS = ("to_edge_transform_and_lower", native.FLOW, openvino_ir.FLOW)
PRODUCTS = {"executorch": "pte", openvino_ir.ENGINE: openvino_ir.PRODUCT}
"""What this toolchain makes, by engine."""

STOPS = (None, "lower")
_KEYS = (
    "name",
    "engine",
    "description",
    "quantization",
    "lowering",
    "produces",
    "tolerance",
    "stop_after",
    "runtime",
    "runtime_reason",
)


@dataclass(frozen=True)
class Lowering:
    """How an exported program becomes a delegated one.

    `partitioner` is the recipe's name where the flow runs one of executorch's own recipes.
    """

    flow: str = "to_edge_transform_and_lower"
    partitioner: str | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Recipe:
    """A recipe with its names resolved. `document` is what was asked for, a preset in full."""

    name: str
    quantization: dict[str, Any] | None
    lowering: Lowering
    stop_after: str | None
    document: dict[str, Any]


@cache
def preset_document() -> dict[str, Any]:
    """data/recipes.json, with what plug-ins add."""
    text = resources.files("assay").joinpath("data/recipes.json").read_text()
    document: dict[str, Any] = json.loads(text)
    document["recipes"] = [*document["recipes"], *load_plugins().recipes]
    return document


@reading("the recipe")
def recipe_from_json(document: Mapping[str, Any] | str) -> Recipe:
    """Reads RECIPE of docs/aot.md, or the name of a preset.

    Raises:
        RequestError: an unknown name, key, engine, flow or product.
    """
    full = _preset(document) if isinstance(document, str) else dict(document)
    check_keys("key of a recipe", full, _KEYS)
    lowering = lowering_from_json(full.get("lowering"))
    _check_product(full, lowering)
    quantization = quantization_from_json(full.get("quantization"))
    if lowering.flow == native.FLOW:
        quantization = _native_quantization(lowering, quantization)
    stop_after = check_stop(full.get("stop_after"))
    return Recipe(str(full.get("name", "inline")), quantization, lowering, stop_after, full)


def _check_product(recipe: Mapping[str, Any], lowering: Lowering) -> None:
    engine, produces = recipe.get("engine", "executorch"), recipe.get("produces", "pte")
    if PRODUCTS.get(engine) != produces:
        made = " or ".join(f"{name}'s {product}" for name, product in PRODUCTS.items())
        raise RequestError(f"this toolchain makes {made}, not {engine}'s {produces}")
    if (lowering.flow == openvino_ir.FLOW) != (engine == openvino_ir.ENGINE):
        raise RequestError(f"the lowering flow {lowering.flow} makes nothing for {engine}")


@reading("the quantization")
def quantization_from_json(document: Mapping[str, Any] | str | None) -> dict[str, Any] | None:
    """Resolves a named quantization; the flow checks the keys when it runs."""
    if not isinstance(document, str):
        return None if document is None else dict(document)
    known = preset_document()["quantizations"]
    if document not in known:
        raise RequestError(unknown_name("quantization", document, known))
    return dict(known[document])


@reading("the lowering")
def lowering_from_json(document: Mapping[str, Any] | None) -> Lowering:
    """Reads {"flow", "partitioner", "options"}; None is the portable lowering."""
    full = dict(document or {})
    check_keys("key of a lowering", full, ("flow", "partitioner", "options", "recipe"))
    flow = full.get("flow", "to_edge_transform_and_lower")
    if flow not in LOWERING_FLOWS:
        raise RequestError(unknown_name("lowering flow", flow, LOWERING_FLOWS))
    partitioner = full.get("recipe" if flow == native.FLOW else "partitioner")
    if flow == openvino_ir.FLOW and partitioner:
        raise RequestError(f"the lowering flow {flow} takes no partitioner")
    if flow == native.FLOW and not partitioner:
        raise RequestError(f'a lowering of flow {flow} needs a "recipe"')
    return Lowering(flow, partitioner, dict(full.get("options") or {}))


def check_stop(stage: str | None) -> str | None:
    """Returns `stage` when a build can stop after it."""
    if stage not in STOPS:
        raise RequestError(f"a build stops after 'lower' or not at all, not after '{stage}'")
    return stage


def _preset(name: str) -> dict[str, Any]:
    if name.startswith(NATIVE):
        lowering = {"flow": native.FLOW, "recipe": name.removeprefix(NATIVE), "options": {}}
        return {"name": name, "engine": "executorch", "lowering": lowering, "produces": "pte"}
    presets = {recipe["name"]: recipe for recipe in preset_document()["recipes"]}
    if name not in presets:
        raise RequestError(unknown_name("recipe", name, presets))
    return dict(presets[name])


def _native_quantization(lowering: Lowering, given: dict[str, Any] | None) -> dict[str, Any] | None:
    """An executorch recipe brings its own quantization, which no other can replace."""
    if given is not None:
        raise RequestError("an executorch recipe has its own quantization; leave it null")
    name = str(lowering.partitioner)
    if not native.is_quantizing(native.make_recipe(name, lowering.options)):
        return None
    return {"flow": native.FLOW, "recipe": name, "options": lowering.options}
