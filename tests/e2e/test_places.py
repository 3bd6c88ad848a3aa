"""Engines that were added, and where everything lies."""

import shutil
from pathlib import Path

from driver import BIN, Workplace, wait_for_end


def test_an_engine_that_was_added_is_listed_and_removed(place: Workplace) -> None:
    assert place.run("engine", "list").out == ""
    runner = BIN / "assay-runner-fake"
    assert place.run("engine", "add", "fake@mine", "--runner", str(runner)).code == 0
    assert place.run("engine", "list").out == f"fake@mine  {runner}\n"
    wrong = place.run("engine", "remove", "fake@min")
    assert (wrong.code, "did you mean 'fake@mine'?" in wrong.err) == (2, True)
    assert place.run("engine", "remove", "fake@mine").code == 0
    assert place.run("engine", "list").out == ""
    assert runner.exists()


def test_doctor_shows_where_everything_lies_and_makes_nothing(place: Workplace) -> None:
    place.env["ASSAY_PYTHON"] = "/absent/python"
    shown = place.run("doctor").out
    assert f"home         {place.home}" in shown
    assert f"store        {place.store}, does not exist yet" in shown
    assert f"cache        {place.home / 'cache'}, does not exist yet" in shown
    config = f"{place.env['XDG_CONFIG_HOME']}/assay/config.json"
    assert f"config       {config}, does not exist yet" in shown
    assert not place.store.exists()
    assert place.run("run", place.spec(place.program("net"))).code == 0
    place.env["ASSAY_PYTHON"] = "/absent/python"
    assert f"store        {place.store}, " in place.run("doctor").out


def listed_by(program: Path, place: Workplace) -> str:
    return wait_for_end(place.start("list", "engines", program=program)).out


def test_absent_engines_in_python_say_what_is_missing(place: Workplace) -> None:
    alone = place.folder / "bin"
    alone.mkdir()
    shutil.copy(BIN / "assay", alone)
    listed = listed_by(alone / "assay", place)
    assert "torch" in listed
    assert "it lacks assay._host" in listed
    shutil.copy(BIN / "assay-runner-fake", alone / "assay-runner-litert")
    listed = listed_by(alone / "assay", place)
    assert "it lacks assay._host" not in listed
    assert "its runner was not built; run make build" in listed
