"""A run reports for ever what it reported once, whatever is measured afterwards."""

import shutil
import sys
from pathlib import Path

import pytest
from driver import Document, Workplace, case_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "campaigns"))

from stored_results import ENGINE, FACTORY, RECIPE, SCRIPT, run_sequences


@pytest.fixture
def scripted(place: Workplace) -> Workplace:
    """A workplace whose recipe makes programs of the fake engine."""
    place.use_script_as_toolchain(SCRIPT)
    place.register_fake_as("executorch", "scripted", fmt="pte")
    (place.folder / "net.py").write_text(FACTORY, encoding="utf-8")
    return place


MADE: Document = {"ref": "net.py:net", "args": {"behaves": "right"}}


def program_of_the_recipe(place: Workplace) -> Path:
    (made,) = place.home.glob("cache/*/*/program.fake.json")
    return Path(shutil.copy(made, place.folder / made.name))


def test_measuring_a_program_alone_leaves_the_run_of_its_recipe(scripted: Workplace) -> None:
    spec = scripted.spec(
        MADE, recipes=[RECIPE], engines=[ENGINE], require={"delegated_ratio": ">=0.9"}
    )
    first = scripted.run("run", spec, "--format", "json")
    assert first.code == 0, first
    run = first.json()["run"]["id"]
    program = program_of_the_recipe(scripted)
    assert scripted.run("bench", program, "--launches", "1", "--iterations", "3").code == 0
    again = scripted.run("report", run, "--format", "json")
    assert (again.code, again.out) == (0, first.out), again
    assert scripted.query("select count(distinct digest), count(*) from artifact") == [(1, 2)]


def test_a_recipe_and_its_program_keep_their_own_manifests_in_one_run(
    scripted: Workplace,
) -> None:
    assert scripted.run("run", scripted.spec(MADE, recipes=[RECIPE], engines=[ENGINE])).code == 0
    program = program_of_the_recipe(scripted)
    both = scripted.spec(MADE, program, recipes=[RECIPE], engines=[ENGINE, "fake"])
    report = scripted.run("run", both, "--format", "json").json()
    assert case_of(report, "net:net")["metrics"]["delegated_ratio"]["value"] == 1.0
    assert "delegated_ratio" not in case_of(report, "program")["metrics"]


@pytest.mark.slow
def test_a_calibration_heads_only_what_began_after_it(place: Workplace) -> None:
    net = place.program("net")
    before = place.run("run", place.spec(net), "--format", "md")
    run = place.query("select id from run")[0][0]
    assert place.run("calibrate", "--for", "2s", "--quiet").code == 0
    assert place.run("report", run, "--format", "md").out == before.out
    after = place.run("run", place.spec(net), "--format", "json")
    assert after.json()["calibration"]["unix_ns"] > 0


def test_random_sequences_of_verbs_change_no_report(tmp_path: Path) -> None:
    tally = run_sequences(1, 8, 3, tmp_path)
    assert tally.differences == []
    assert tally.compared > 50, tally
