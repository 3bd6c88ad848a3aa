"""Programs from elsewhere in the sandbox: each tries one thing, and the row says what it got."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from availability import need_recipe
from driver import Document, Finished, Workplace, case_of
from hostile_scene import PYTHON, Scene, open_scene

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason=f"hostile programs need {PYTHON}")

REFUSED = (
    *("read_home", "read_by_symlink", "read_by_proc_root", "read_by_init_root", "list_home"),
    *("write_store", "remove_store", "replace_program", "change_files"),
    *("connect_tcp", "send_udp", "bind_abstract", "fill_disk"),
    *("signal_others", "trace_parent", "read_environment_of_others", "gain_namespace"),
)
REACHED_OUTSIDE = (
    *("read_home", "write_store", "change_files", "connect_tcp", "send_udp", "signal_others"),
)
"""Reach of the programs without a sandbox, also as an ordinary user."""


@pytest.fixture
def scene(place: Workplace) -> Iterator[Scene]:
    with open_scene(place) as opened:
        yield opened


def attack(scene: Scene, name: str, *flags: str) -> Document:
    """The row of a program that tries it."""
    finished = scene.bench(name, *flags)
    skip_without_sandbox(finished)
    assert finished.code == 1, finished
    return scene.row(name)


def skip_without_sandbox(finished: Finished) -> None:
    if "cannot enforce" in finished.err:
        pytest.skip("this kernel or container lacks Landlock, namespaces or seccomp")


def text_of(row: Document) -> str:
    return json.dumps(row, ensure_ascii=False)


def state_of(path: Path) -> tuple[object, ...]:
    """Mode, owner, size and time of a file and of its folder."""
    states = [one.stat() for one in (path, path.parent)]
    return tuple((s.st_mode, s.st_uid, s.st_size, s.st_mtime_ns) for s in states)


@pytest.mark.parametrize("name", REFUSED)
def test_the_sandbox_refuses(scene: Scene, name: str) -> None:
    before = [state_of(path) for path in (scene.secret, scene.target)]
    row = attack(scene, name, "--sandbox=required")
    assert "refused: " in text_of(row)
    assert [state_of(path) for path in (scene.secret, scene.target)] == before
    assert scene.target.read_text(encoding="utf-8") == "kept"
    assert scene.secret.read_text(encoding="utf-8") == "secret"


@pytest.mark.parametrize("name", REACHED_OUTSIDE)
def test_the_same_is_reached_without_it(scene: Scene, name: str) -> None:
    assert "reached" in text_of(attack(scene, name, "--sandbox=off"))


def test_commands_are_in_a_sandbox_unless_it_is_switched_off(scene: Scene) -> None:
    row = attack(scene, "read_home")
    assert any(note.startswith("sandbox: ") for note in row["notes"]), row["notes"]
    row = attack(scene, "read_home", "--sandbox=off")
    assert not any(note.startswith("sandbox: ") for note in row["notes"]), row["notes"]


MODEL_ATTACKS = (
    *("read_home", "read_by_symlink", "write_store", "change_files", "connect_tcp"),
    "signal_others",
)
"""Attacks of a trusted model from elsewhere while the toolchain loads it."""


def outcomes_of_model(scene: Scene, *command: str) -> dict[str, str]:
    """Runs a verb of the toolchain on a hostile .pt2; outcomes by attack."""
    pytest.importorskip("torch")
    scene.place.env["ASSAY_PYTHON"] = sys.executable
    path = scene.write_model(MODEL_ATTACKS)
    verb, *flags = command
    finished = scene.place.run(verb, path, "--trust", *flags, timeout_s=600)
    skip_without_sandbox(finished)
    told = re.findall(r"<(\w+)\s+(reached|refused)", finished.out + finished.err)
    assert told, finished
    return dict(told)


INSPECT = ("inspect",)
AOT = ("aot", "--recipe", "executorch/portable")


@pytest.mark.parametrize("command", [INSPECT, (*INSPECT, "--sandbox=required"), AOT])
def test_a_model_is_in_the_sandbox_of_the_toolchain(scene: Scene, command: tuple[str, ...]) -> None:
    if "aot" in command:
        need_recipe(scene.place, "executorch/portable")
        scene.place.register_fake_as("executorch", "elsewhere", fmt="pte")  # It is not launched.
    assert outcomes_of_model(scene, *command) == dict.fromkeys(MODEL_ATTACKS, "refused")
    assert scene.target.read_text(encoding="utf-8") == "kept"


@pytest.mark.slow
def test_a_model_reaches_all_of_it_without_the_sandbox(scene: Scene) -> None:
    outcomes = outcomes_of_model(scene, *INSPECT, "--sandbox=off")
    assert outcomes == dict.fromkeys(MODEL_ATTACKS, "reached")


@pytest.mark.parametrize("mode", ["off", "on"])
def test_daemons_are_ended_and_told(scene: Scene, mode: str) -> None:
    row = attack(scene, "leave_daemons", f"--sandbox={mode}")
    assert "a launch left 3 processes running, which were ended" in row["notes"]
    assert scene.place.processes() == []


def test_a_command_does_not_open_keys_by_its_own_places(scene: Scene) -> None:
    places = scene.place.folder / "program" / "read_home.command.places.json"
    places.parent.mkdir()
    places.write_text(json.dumps({"a": str(scene.secret.parent)}), encoding="utf-8")
    row = attack(scene, "read_home", "--sandbox=required")
    assert "refused: " in text_of(row)
    assert "the sandbox keeps closed" in text_of(row)


def test_secrets_of_the_environment_stay_outside(scene: Scene) -> None:
    place = scene.place
    place.env["DEPLOY_TOKEN"] = "token"
    place.env["ASSAY_SITE_ADD_TOKEN"] = "site"
    script = place.folder / "print.sh"
    script.write_text(
        "#!/bin/sh\necho token=$DEPLOY_TOKEN$ASSAY_SITE_ADD_TOKEN >&2; exit 3\n", encoding="utf-8"
    )
    script.chmod(0o755)
    program = {"argv": ["./print.sh"], "inputs": [], "outputs": [], "time_pattern": "([0-9]+)"}
    path = place.folder / "print.command.json"
    path.write_text(json.dumps(program), encoding="utf-8")
    for passed, expected in ((None, "token="), ("DEPLOY_*", "token=token")):
        if passed is not None:
            place.env["ASSAY_PASS_ENV"] = passed
        place.run("bench", path, "--launches", "1", "--sandbox=off")
        row = text_of(case_of(place.report(), "print.command"))
        assert expected in row
        assert ("token=token" in row) == (passed is not None)
        assert "site" not in row.split("token=")[1].split()[0]
