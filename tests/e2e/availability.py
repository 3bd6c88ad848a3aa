"""Installed engines and recipes, and tests that need them."""

from pathlib import Path

import pytest
from driver import Workplace

# Without these instructions ONNX Runtime adds products of 8 bits in 16 bits, which saturate.
HAS_VNNI = "vnni" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
NEEDS_VNNI = pytest.mark.skipif(not HAS_VNNI, reason="this processor's int8 products saturate")


def list_engines(place: Workplace) -> dict[str, str]:
    """Text of `assay list engines` on each build, by its reference."""
    items = place.run("list", "engines", "--json").json()["items"]
    return {item["name"]: item["text"] for item in items}


def find_engines(place: Workplace) -> dict[str, str]:
    """Texts by the engine's name, without the build."""
    return {name.split("@")[0]: text for name, text in list_engines(place).items()}


def is_installed(engines: dict[str, str], name: str) -> bool:
    """True if the engine, one of find_engines(), can run here."""
    return not engines[name].startswith("not available")


def need_engine(place: Workplace, engine: str) -> None:
    """Skips where the engine is not here, with its own reason."""
    engines = find_engines(place)
    if not is_installed(engines, engine):
        pytest.skip(f"{engine}: {engines[engine]}")


def find_missing_recipes(place: Workplace) -> dict[str, str]:
    """Reasons why recipes cannot be made here, by their names."""
    items = place.run("list", "recipes", "--json").json()["items"]
    texts = {item["name"]: item["text"] for item in items}
    return {name: text for name, text in texts.items() if "(not available:" in text}


def need_recipe(place: Workplace, recipe: str) -> None:
    """Skips where the recipe cannot be made here, with its own reason."""
    missing = find_missing_recipes(place)
    if recipe in missing:
        pytest.skip(f"{recipe}: {missing[recipe]}")
