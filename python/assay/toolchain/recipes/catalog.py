"""Lists models and recipes, each with its availability and the reason if it is missing."""

from collections.abc import Callable
from typing import Any

from assay.toolchain import executorch_recipes
from assay.toolchain.errors import JobError, RequestError
from assay.toolchain.models import loader
from assay.toolchain.models.plugins import load_plugins
from assay.toolchain.recipes import recipes
from assay.toolchain.suggest import unknown_name
from assay.toolchain.types import TORCHVISION

SCHEMA = "assay/list/1"
Item = dict[str, Any]


def list_known(what: str) -> dict[str, Any]:
    """{schema, what, items: [{name, description, available, reason, …}]}."""
    if what not in _LISTS:
        raise RequestError(unknown_name("list", what, _LISTS))
    return {"schema": SCHEMA, "what": what, "items": _LISTS[what]() + _broken_plugins()}


def list_models() -> list[Item]:
    """Listed models first, then the rest of torchvision, then those of plug-ins."""
    listed = loader.listed_models()
    try:
        names, reason = loader.torchvision_names(), None
    except JobError as error:
        names, reason = [], error.text
    items = [_listed_model(ref, entry, names, reason) for ref, entry in listed.items()]
    others = [name for name in names if TORCHVISION + name not in listed]
    items += [
        _item(TORCHVISION + name, "torchvision, 1x3x224x224 unless told otherwise")
        for name in others
    ]
    return items + [_item(name, text) for name, text in load_plugins().sentences().items()]


def list_recipes() -> list[Item]:
    """Presets, those of plug-ins, then executorch's own."""
    items = [_preset_item(entry) for entry in recipes.preset_document()["recipes"]]
    for name, kind in executorch_recipes.recipe_types().items():
        text = f"executorch's own recipe of its {kind.get_backend_name()} backend"
        items.append(_item(recipes.NATIVE + name, text, _why_not_native(name)))
    for backend, reason in executorch_recipes.broken_providers().items():
        text = f"recipes of executorch's {backend} backend"
        items.append(_item(recipes.NATIVE + backend, text, reason))
    return items


def _preset_item(entry: dict[str, Any]) -> Item:
    text = entry.get("description", "from a plug-in")
    item = _item(entry["name"], text, _why_not(entry))
    for key in ("backend", "runtime", "runtime_reason"):
        if key in entry:
            item[key] = entry[key]
    return item


def _why_not(entry: dict[str, Any]) -> str | None:
    """Says why a recipe cannot be made here; None when it can."""
    try:
        recipe = recipes.recipe_from_json(entry)
        missing, probe = recipes.why_unavailable(recipe), recipe.flow.probe
        if missing is None and probe is not None:
            probe(recipe.lowering)
    except Exception as error:
        return error.text if isinstance(error, JobError) else f"{type(error).__name__}: {error}"
    return missing


def _why_not_native(name: str) -> str | None:
    try:
        executorch_recipes.make_recipe(name, {})
    except Exception as error:
        return error.text if isinstance(error, JobError) else f"{type(error).__name__}: {error}"
    return None


def _listed_model(ref: str, entry: Item, names: list[str], reason: str | None) -> Item:
    if reason is None and ref.removeprefix(TORCHVISION) not in names:
        reason = "the installed torchvision has no such model"
    item = _item(ref, entry["description"], reason)
    return {**item, "inputs": entry["inputs"]}


def _broken_plugins() -> list[Item]:
    return [
        _item(name, "a plug-in that could not be loaded", reason)
        for name, reason in load_plugins().broken.items()
    ]


def _item(name: str, description: str, reason: str | None = None) -> Item:
    available = {"available": reason is None, "reason": reason}
    return {"name": name, "description": description, **available}


_LISTS: dict[str, Callable[[], list[Item]]] = {"models": list_models, "recipes": list_recipes}
