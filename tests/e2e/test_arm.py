"""Arm's backends without their chips: a reference model, an emulator, a compiler's model."""

import pytest
from availability import need_engine, need_recipe
from driver import Document, Workplace
from programs import FACTORY

TOSA = ["tosa/fp32", "tosa/int8", "tosa/int16"]
VGF = ["vgf/fp32", "vgf/int8"]


def evaluate(place: Workplace, engine: str, recipes: list[str]) -> dict[str, Document]:
    """The small net by recipes, evaluated against the network and the quantized graph."""
    need_engine(place, engine)
    need_recipe(place, recipes[0])
    factory = place.folder / "factory.py"
    factory.write_text(FACTORY, encoding="utf-8")
    spec = place.spec(
        {"ref": f"{factory}:net"},
        engines=[engine],
        recipes=recipes,
        evaluate={"against": ["float32", "qdq"]},
        measure={
            **{"launches": 1, "warmup": 1, "iterations": 2, "time_budget": "2s"},
            "passes": ["timing", "evaluate"],
        },
    )
    finished = place.run("run", spec, "--format", "json", "--python", place.python, timeout_s=600)
    assert finished.code == 0, finished
    rows = {row["recipe"]: row for row in finished.json()["cases"]}
    assert {row["outcome"] for row in rows.values()} == {"completed"}, rows
    assert {row["accuracy"] for row in rows.values()} == {"pass"}, rows
    assert {row["timing"] for row in rows.values()} == {"emulated"}, rows
    return rows


def sqnr_db(row: Document, against: str) -> float:
    (table,) = [one for one in row["accuracy_tables"] if one["against"] == against]
    return min(output["metrics"]["sqnr_db"]["value"] for output in table["outputs"])


@pytest.mark.engine
def test_tosa_programs_answer_like_the_network_and_its_quantized_graph(place: Workplace) -> None:
    rows = evaluate(place, "tosa", TOSA)
    assert sqnr_db(rows["tosa/fp32"], "float32") > 100
    # A quantized program computes the graph's integers, so that nearly nothing differs.
    assert sqnr_db(rows["tosa/int8"], "qdq") > sqnr_db(rows["tosa/int8"], "float32")
    assert sqnr_db(rows["tosa/int16"], "float32") > sqnr_db(rows["tosa/int8"], "float32")


@pytest.mark.long
@pytest.mark.engine
def test_vgf_programs_answer_like_the_network_and_its_quantized_graph(place: Workplace) -> None:
    rows = evaluate(place, "vgf", VGF)
    assert sqnr_db(rows["vgf/fp32"], "float32") > 100
    assert sqnr_db(rows["vgf/int8"], "qdq") > sqnr_db(rows["vgf/int8"], "float32")


@pytest.mark.engine
def test_figures_of_a_compiler_are_shown_as_modelled(place: Workplace) -> None:
    need_recipe(place, "executorch/ethos-u55-128")
    factory = place.folder / "factory.py"
    factory.write_text(FACTORY, encoding="utf-8")
    made = place.run(
        *("aot", f"{factory}:net", "--recipe", "executorch/ethos-u55-128"),
        *("--python", place.python),
        timeout_s=600,
    )
    assert made.code == 0, made
    assert "modelled by vela 5" in made.out
    assert "not measured: ethos-u55-128" in made.out
    assert "inferences/s" in made.out
