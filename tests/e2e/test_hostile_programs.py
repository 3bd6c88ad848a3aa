"""Programs from elsewhere in the sandbox: each tries one thing, and the row says what it got."""

import json
import os
import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from driver import Document, Workplace, case_of

PYTHON = Path("/usr/bin/python3")
SCRIPT = Path(__file__).with_name("hostile_program.py")
pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason=f"hostile programs need {PYTHON}")

REFUSED = (
    *("read_home", "read_by_symlink", "read_by_proc_root", "read_by_init_root", "list_home"),
    *("write_store", "remove_store", "replace_program"),
    *("connect_tcp", "send_udp", "bind_abstract", "fill_disk"),
    *("signal_others", "trace_parent", "read_environment_of_others", "gain_namespace"),
)
REACHED_OUTSIDE = ("read_home", "write_store", "connect_tcp", "send_udp", "signal_others")
"""The same programs without a sandbox, also as an ordinary user: what they reach."""


@dataclass(frozen=True)
class Scene:
    """A user's home with a key, a store, a server on the loopback interface."""

    place: Workplace
    secret: Path
    target: Path
    port: int

    def attack(self, name: str, *flags: str) -> Document:
        """The row of a program that tries it."""
        script = self.place.folder / "program" / "attack.py"
        script.parent.mkdir(exist_ok=True)
        shutil.copy(SCRIPT, script)
        given = (name, self.secret, self.target, os.getpid(), self.port)
        tensor = {"name": "x", "dtype": "float32", "shape": [1, 4]}
        program = {
            "argv": [str(PYTHON), "{folder}/attack.py", *map(str, given)],
            **{"inputs": [tensor], "outputs": [tensor]},
            **{"time_pattern": "([0-9]+) us", "time_unit": "us"},
        }
        path = script.with_name(f"{name}.command.json")
        path.write_text(json.dumps(program), encoding="utf-8")
        measured = ("--launches", "1", "--warmup", "0", "--iterations", "1")
        finished = self.place.run("bench", path, *measured, *flags)
        if "cannot enforce" in finished.err:
            pytest.skip("this kernel or container lacks Landlock, namespaces or seccomp")
        assert finished.code == 1, finished
        return case_of(self.place.report(), f"{name}.command")


@pytest.fixture
def scene(place: Workplace) -> Iterator[Scene]:
    home = place.folder / "user"
    secret = home / ".ssh" / "id_ed25519"
    secret.parent.mkdir(parents=True)
    secret.write_text("secret", encoding="utf-8")
    place.env["HOME"] = str(home)
    target = place.home / "cache" / "precious"
    target.parent.mkdir(parents=True)
    target.write_text("kept", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield Scene(place, secret, target, server.getsockname()[1])


def text_of(row: Document) -> str:
    return json.dumps(row, ensure_ascii=False)


@pytest.mark.parametrize("name", REFUSED)
def test_the_sandbox_refuses(scene: Scene, name: str) -> None:
    row = scene.attack(name, "--sandbox=required")
    assert "refused: " in text_of(row)
    assert scene.target.read_text(encoding="utf-8") == "kept"
    assert scene.secret.read_text(encoding="utf-8") == "secret"


@pytest.mark.parametrize("name", REACHED_OUTSIDE)
def test_the_same_is_reached_without_it(scene: Scene, name: str) -> None:
    assert "reached" in text_of(scene.attack(name, "--sandbox=off"))


def test_commands_are_in_a_sandbox_unless_it_is_switched_off(scene: Scene) -> None:
    row = scene.attack("read_home")
    assert any(note.startswith("sandbox: ") for note in row["notes"]), row["notes"]
    row = scene.attack("read_home", "--sandbox=off")
    assert not any(note.startswith("sandbox: ") for note in row["notes"]), row["notes"]


@pytest.mark.parametrize("mode", ["off", "on"])
def test_daemons_are_ended_and_told(scene: Scene, mode: str) -> None:
    row = scene.attack("leave_daemons", f"--sandbox={mode}")
    assert "a launch left 3 processes running, which were ended" in row["notes"]
    assert scene.place.processes() == []


def test_secrets_of_the_environment_stay_outside(scene: Scene) -> None:
    place = scene.place
    place.env["DEPLOY_TOKEN"] = "token"
    script = place.folder / "print.sh"
    script.write_text("#!/bin/sh\necho token=$DEPLOY_TOKEN >&2; exit 3\n", encoding="utf-8")
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
