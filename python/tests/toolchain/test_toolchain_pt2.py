"""Exported programs that would run code while they are loaded are refused, all others are read."""

import contextlib
import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from assay.toolchain.file_formats.pt2 import TRUST, UntrustedFile, load_exported  # noqa: E402
from assay.toolchain.models.loader import load_model  # noqa: E402
from assay.toolchain.programs.inspection import inspect_file  # noqa: E402
from assay.toolchain.programs.signature import read_signature  # noqa: E402
from assay.toolchain.types import ModelSpec  # noqa: E402

Members = dict[str, bytes]


class Creates:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (str(self._path), "w"))


class Branches(torch.nn.Module):
    """Control flow, a dictionary among the inputs, sizes that are related."""

    def forward(self, x: Any, named: dict[str, Any]) -> Any:
        chosen = torch.cond(x.sum() > 0, lambda a: a + 1, lambda a: a * 2, (x,))
        return chosen + named["a"].reshape(x.shape[0] * 2 // 2, -1)


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """The file that an attack creates when it succeeds."""
    return tmp_path / "executed"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A sound file with an open dimension."""
    path = tmp_path / "net.pt2"
    dynamic = ({0: torch.export.Dim("b", min=2, max=64)},)
    module = torch.nn.Linear(4, 2)
    exported = torch.export.export(module, (torch.randn(3, 4),), dynamic_shapes=dynamic)
    torch.export.save(exported, path)
    return path


def change(path: Path, edit: Callable[[Members], None]) -> None:
    """Writes the file anew with other members; `edit` sees their names without the root."""
    with zipfile.ZipFile(path) as file:
        root = file.namelist()[0].split("/")[0]
        members = {name.removeprefix(f"{root}/"): file.read(name) for name in file.namelist()}
    edit(members)
    with zipfile.ZipFile(path, "w") as file:
        for name, data in members.items():
            file.writestr(f"{root}/{name}", data)


def edit_json(members: Members, name: str, edit: Callable[[dict[str, Any]], None]) -> None:
    document = json.loads(members[name])
    edit(document)
    members[name] = json.dumps(document).encode()


def pickled(victim: Path) -> bytes:
    buffer = io.BytesIO()
    torch.save(Creates(victim), buffer)
    return buffer.getvalue()


MODEL = "models/model.json"
WEIGHTS = "data/weights/model_weights_config.json"
CONSTANTS = "data/constants/model_constants_config.json"
RUN = "open({!r}, 'w')"


def pickled_weight(members: Members, victim: Path) -> None:
    edit_json(members, WEIGHTS, lambda d: d["config"]["weight"].update(use_pickle=True))
    members["data/weights/weight_0"] = pickled(victim)


def opaque_constant(members: Members, victim: Path) -> None:
    payload = {"path_name": "opaque_obj_0", "is_param": False, "use_pickle": True}
    edit_json(
        members,
        CONSTANTS,
        lambda d: d["config"].update(c={**payload, "tensor_meta": None}),
    )
    members["data/constants/opaque_obj_0"] = pickle.dumps(Creates(victim))


def example_inputs(members: Members, victim: Path) -> None:
    members["data/sample_inputs/model.pt"] = pickled(victim)


def hidden_example_inputs(members: Members, victim: Path) -> None:
    """torch finds members whatever their case, and lists them as they are written."""
    del members["data/sample_inputs/model.pt"]
    members["data/SAMPLE_inputs/model.pt"] = pickled(victim)


def legacy_weights(members: Members, victim: Path) -> None:
    members["data/weights/model.pt"] = pickled(victim)


def size_expression(members: Members, victim: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        values = document["graph_module"]["graph"]["tensor_values"]
        values["input"]["sizes"][0]["as_expr"]["expr_str"] = RUN.format(str(victim))

    edit_json(members, MODEL, edit)


def guard(members: Members, victim: Path) -> None:
    edit_json(members, MODEL, lambda d: d.update(guards_code=[RUN.format(str(victim))]))


def name_of_an_input(members: Members, victim: Path) -> None:
    """It becomes a parameter, with an annotation, of the Python that torch makes of a graph."""
    letters = "+".join(f"chr({ord(letter)})" for letter in f"open({str(victim)!r},'w')")
    text = members[MODEL].decode()
    members[MODEL] = text.replace('"name": "input"', f'"name": "input:exec({letters})"').encode()


def operator_argument(members: Members, victim: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        node = document["graph_module"]["graph"]["nodes"][0]
        node["inputs"][0]["arg"] = {"as_operator": "torch.os.system"}

    edit_json(members, MODEL, edit)


def module_by_name(members: Members, victim: Path) -> None:
    context = {"default_factory_module": "antigravity", "default_factory_name": "fly"}
    spec = {"type": "collections.defaultdict", "context": json.dumps(context), "children_spec": []}

    def edit(document: dict[str, Any]) -> None:
        for call in document["graph_module"]["module_call_graph"]:
            call["signature"]["in_spec"] = json.dumps([1, spec])

    edit_json(members, MODEL, edit)


def native_library(members: Members, victim: Path) -> None:
    members["data/aotinductor/model/code.so"] = b"\x7fELF"


ATTACKS = [
    *(pickled_weight, opaque_constant, example_inputs, hidden_example_inputs, legacy_weights),
    *(size_expression, guard, name_of_an_input, operator_argument, module_by_name, native_library),
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_file_that_would_run_code_is_refused(
    saved: Path, victim: Path, attack: Callable[[Members, Path], None]
) -> None:
    change(saved, lambda members: attack(members, victim))
    with pytest.raises(UntrustedFile, match="--trust"):
        load_exported(saved)
    assert not victim.exists()


@pytest.mark.parametrize(
    "read", [inspect_file, read_signature, lambda path: load_model(ModelSpec(str(path)))]
)
def test_every_reader_refuses_it(saved: Path, victim: Path, read: Callable[[Path], Any]) -> None:
    change(saved, lambda members: pickled_weight(members, victim))
    path = saved.rename(saved.with_suffix(".torch.pt2"))
    with pytest.raises(UntrustedFile, match="--trust"):
        read(path)
    assert not victim.exists()


@pytest.mark.parametrize("attack", [pickled_weight, example_inputs, size_expression])
def test_the_attacks_succeed_where_the_file_is_trusted(
    saved: Path,
    victim: Path,
    attack: Callable[[Members, Path], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(TRUST, "1")
    change(saved, lambda members: attack(members, victim))
    with contextlib.suppress(Exception):  # What it made is no tensor; it ran all the same.
        load_exported(saved).module()
    assert victim.exists()


def test_sound_files_are_read(saved: Path, tmp_path: Path) -> None:
    assert "linear" in inspect_file(saved)["text"]
    path = tmp_path / "branches.pt2"
    size = torch.export.Dim("b", min=4, max=64)
    dynamic = {"x": {0: size}, "named": {"a": {0: 2 * size}}}
    inputs = (torch.randn(6, 4), {"a": torch.randn(12, 2)})
    torch.export.save(torch.export.export(Branches(), inputs, dynamic_shapes=dynamic), path)
    x, named = torch.randn(8, 4), {"a": torch.randn(16, 2)}
    expected = Branches()(x, named)
    assert torch.equal(load_exported(path).module()(x, named), expected)


def test_a_file_of_the_older_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "old.pt2"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("version", "8.1")
    with pytest.raises(UntrustedFile, match="older format"):
        load_exported(path)
