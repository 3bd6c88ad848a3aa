"""Recipes: what quantizes and lowers a model. Presets are data/recipes.json."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from assay.toolchain import executorch_recipes
from assay.toolchain.errors import RequestError, reading
from assay.toolchain.flows.base import Flow
from assay.toolchain.flows.registry import (
    FLOWS,
    POST_LOWERING,
    find_flow_of_quantization,
    products,
)
from assay.toolchain.models.plugins import load_plugins
from assay.toolchain.packages import why_missing
from assay.toolchain.separate_toolchains import find_separate_toolchain
from assay.toolchain.suggest import check_keys, unknown_name
from assay.toolchain.types import DEFAULT, Lowering

SCHEMA = "assay/recipes/1"
NATIVE = "executorch/recipe:"
"""Prefix of the export recipes that ExecuTorch's backends register themselves."""

STOPS = (None, "lower")
_QUANTIZATION_NEEDS = {"pt2e": ("torchao",), "torchao": ("torchao",), "nncf": ("nncf",)}
"""Python packages by quantization flow."""

_KEYS = (
    "name",
    "engine",
    "description",
    "quantization",
    "lowering",
    "produces",
    "tolerance",
    "backend",
    "stop_after",
    "runtime",
    "runtime_reason",
)


@dataclass(frozen=True)
class Recipe:
    """A recipe with its names resolved.

    `flow`: the lowering's flow. `document`: the request's recipe, a preset in full.
    """

    name: str
    quantization: dict[str, Any] | None
    lowering: Lowering
    flow: Flow
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
    """Reads RECIPE of docs/reference/recipes.md, or the name of a preset.

    Raises:
        RequestError: an unknown name, key, engine, flow or product.
    """
    full = _preset(document) if isinstance(document, str) else dict(document)
    check_keys("key of a recipe", full, _KEYS)
    lowering = lowering_from_json(full.get("lowering"))
    flow = FLOWS[lowering.flow]
    _check_product(full, flow)
    quantization = _choose_quantization(
        flow, lowering, quantization_from_json(full.get("quantization"))
    )
    stop_after = check_stop(full.get("stop_after"))
    name = str(full.get("name", "inline"))
    return Recipe(name, quantization, lowering, flow, stop_after, full)


def _check_product(recipe: Mapping[str, Any], flow: Flow) -> None:
    engine, produces = recipe.get("engine", "executorch"), recipe.get("produces", "pte")
    known = products()
    if produces not in known.get(engine, []):
        made = ", ".join(f"{name}'s {' or '.join(formats)}" for name, formats in known.items())
        raise RequestError(f"this toolchain makes {made}, not {engine}'s {produces}")
    if flow.engine != engine:
        raise RequestError(f"the lowering flow {flow.name} makes nothing for {engine}")
    if flow.product != produces:
        raise RequestError(f"the lowering flow {flow.name} makes {flow.product}, not {produces}")


def _choose_quantization(
    flow: Flow, lowering: Lowering, quantization: dict[str, Any] | None
) -> dict[str, Any] | None:
    """The recipe's quantization, unless the flow brings its own."""
    if flow.own_quantization is not None:
        if quantization is not None:
            text = f"a lowering of flow {flow.name} has its own quantization; leave it null"
            raise RequestError(text)
        return flow.own_quantization(lowering)
    check_pair(quantization, flow)
    return quantization


def check_pair(quantization: Mapping[str, Any] | None, flow: Flow) -> None:
    """Refuses a quantization that works on what another lowering flow makes.

    Raises:
        RequestError: as it says.
    """
    wanted = find_flow_of_quantization(quantization)
    if quantization is not None and wanted not in (None, flow):
        name = quantization["flow"]
        text = f"the quantization flow {name} works on what the lowering flow {wanted.name} makes"
        raise RequestError(f"{text}, not on what {flow.name} makes")


def why_unavailable(recipe: Recipe) -> str | None:
    """Says why this toolchain cannot make the recipe; None when nothing is missing.

    Looks for packages and programs and imports none of them: it is quick, and one that is there and
    broken is not noticed.
    """
    flow = recipe.flow
    missing = why_missing((*flow.needs, *_packages_for(recipe.quantization)))
    own = find_separate_toolchain(flow.name)
    if missing is not None and own is not None:
        return f"it needs a toolchain of its own: {own}"
    if missing is not None or flow.find_missing is None:
        return missing
    return flow.find_missing(recipe.lowering)


def _packages_for(quantization: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The packages that a quantization needs in addition to the lowering's."""
    flow = str((quantization or {}).get("flow"))
    if flow in POST_LOWERING:
        return POST_LOWERING[flow].needs
    return _QUANTIZATION_NEEDS.get(flow, ())


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
    name = full.get("flow", DEFAULT)
    if name not in FLOWS:
        raise RequestError(unknown_name("lowering flow", name, FLOWS))
    return Lowering(name, FLOWS[name].read_choice(full), dict(full.get("options") or {}))


def check_stop(stage: str | None) -> str | None:
    """Returns `stage` when a build can stop after it."""
    if stage not in STOPS:
        raise RequestError(f"a build stops after 'lower' or not at all, not after '{stage}'")
    return stage


def _preset(name: str) -> dict[str, Any]:
    if name.startswith(NATIVE):
        native = name.removeprefix(NATIVE)
        lowering = {"flow": executorch_recipes.FLOW, "recipe": native, "options": {}}
        return {"name": name, "engine": "executorch", "lowering": lowering, "produces": "pte"}
    presets = {recipe["name"]: recipe for recipe in preset_document()["recipes"]}
    if name not in presets:
        raise RequestError(unknown_name("recipe", name, presets))
    return dict(presets[name])
