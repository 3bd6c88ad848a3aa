"""A scene with what hostile programs and models want, and ways to run them."""

import json
import os
import shutil
import socket
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driver import Document, Finished, Workplace, case_of

PYTHON = Path("/usr/bin/python3")
SCRIPT = Path(__file__).with_name("hostile_program.py")
MEASURED = ("--launches", "1", "--warmup", "0", "--iterations", "1")


@dataclass(frozen=True)
class Scene:
    """A user's home with a key, a store, a server on the loopback interface."""

    place: Workplace
    secret: Path
    target: Path
    port: int

    def bench(self, name: str, *flags: str) -> Finished:
        """Measures a program that tries it."""
        script = self._copy_script(self.place.folder / "program")
        tensor = {"name": "x", "dtype": "float32", "shape": [1, 4]}
        program = {
            "argv": [str(PYTHON), "{folder}/attack.py", *self.arguments(name)],
            **{"inputs": [tensor], "outputs": [tensor]},
            **{"time_pattern": "([0-9]+) us", "time_unit": "us"},
        }
        path = script.with_name(f"{name}.command.json")
        path.write_text(json.dumps(program), encoding="utf-8")
        return self.place.run("bench", path, *MEASURED, *flags)

    def row(self, name: str) -> Document:
        """The row of the program that was measured last."""
        return case_of(self.place.report(), f"{name}.command")

    def arguments(self, name: str) -> list[str]:
        """Returns the arguments of hostile_program.py."""
        return [name, *map(str, (self.secret, self.target, os.getpid(), self.port))]

    def write_model(self, names: Sequence[str]) -> Path:
        """A .pt2 whose weights are a pickle that tries all of them and tells what it got."""
        import torch

        folder = self.place.folder / "model"
        script = self._copy_script(folder)
        path = folder / "net.pt2"
        module = torch.nn.Linear(4, 2)
        torch.export.save(torch.export.export(module, (torch.zeros(1, 4),)), path)
        code = (
            f"import runpy, sys\nsys.argv = {[str(script), *self.arguments(names[0])]!r}\n"
            f"run = runpy.run_path({str(script)!r})['outcome_of']\n"
            f"raise LookupError(', '.join(f'<{{n}} {{run(n)[:45]}}>' for n in {names!r}))\n"
        )
        replace_weight_by_pickle(path, code)
        return path

    def _copy_script(self, folder: Path) -> Path:
        folder.mkdir(exist_ok=True)
        return Path(shutil.copy(SCRIPT, folder / "attack.py"))


@contextmanager
def open_scene(place: Workplace) -> Iterator[Scene]:
    """A scene at that workplace, whose user is another one from now on."""
    secret = place.folder / "user" / ".ssh" / "id_ed25519"
    secret.parent.mkdir(parents=True)
    secret.write_text("secret", encoding="utf-8")
    place.env["HOME"] = str(place.folder / "user")
    target = place.home / "cache" / "precious"
    target.parent.mkdir(parents=True)
    target.write_text("kept", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield Scene(place, secret, target, server.getsockname()[1])


class _Executes:
    """Runs code when it is unpickled."""

    def __init__(self, code: str) -> None:
        self._code = code

    def __reduce__(self) -> tuple[Any, ...]:
        return (exec, (self._code, {}))


def replace_weight_by_pickle(path: Path, code: str) -> None:
    """Has torch run the code where it loads this exported program."""
    import io

    import torch

    buffer = io.BytesIO()
    torch.save(_Executes(code), buffer)
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    root = next(iter(members)).split("/")[0]
    config = f"{root}/data/weights/model_weights_config.json"
    document = json.loads(members[config])
    document["config"]["weight"]["use_pickle"] = True
    members[config] = json.dumps(document).encode()
    members[f"{root}/data/weights/weight_0"] = buffer.getvalue()
    with zipfile.ZipFile(path, "w") as file:
        for name, data in members.items():
            file.writestr(name, data)
