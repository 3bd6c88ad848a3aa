"""The version of a package that changed something is found, from a folder of tiny wheels."""

import hashlib
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from driver import Document, Workplace

pytestmark = pytest.mark.slow

ENGINE = '''
"""An engine whose package says what it answers."""

import numpy as np
import toy

from assay.engines import (
    AssayError,
    Description,
    Engine,
    LoadReport,
    LoadRequest,
    Session,
    TensorSpec,
)


class ToySession(Session):
    def __init__(self) -> None:
        spec = TensorSpec("x", "float32", [1, 4])
        self.report = LoadReport(inputs=[spec], outputs=[spec], stages={})

    def bind(self, inputs):
        (self._input,) = inputs

    def execute(self):
        self._output = self._input + np.float32(toy.BIAS)

    def fetch(self):
        return [self._output]


class ToyEngine(Engine):
    def describe(self) -> Description:
        return Description(
            name="toy", version=toy.VERSION, build_id=toy.VERSION, formats=("toy",)
        )

    def load(self, request: LoadRequest) -> Session:
        if not toy.READS_NET:
            raise AssayError("a format of the future", code="unsupported")
        return ToySession()
'''

SPEC: Document = {
    "schema": "assay/spec/1",
    "models": [{"ref": "net.toy.json", "inputs": [[{"shape": [1, 4], "dtype": "float32"}]]}],
    "engines": ["toy"],
    "evaluate": {"samples": 1},
    "measure": {"warmup": 2, "iterations": 10, "passes": ["timing", "evaluate"]},
}


class Wheels:
    """A folder that pip installs the package from, instead of an index."""

    def __init__(self, place: Workplace) -> None:
        self.folder = place.folder / "wheels"
        self.folder.mkdir()
        place.env |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.folder)}
        (place.folder / "toy_engine.py").write_text(ENGINE)
        (place.folder / "net.toy.json").write_text("{}")
        (place.folder / "bench.spec.json").write_text(json.dumps(SPEC))
        repository = {
            "schema": "assay/repository/1",
            "repository": {"kind": "wheel", "url": "toy"},
            "engine": "toy",
            "environments": {"default": {"engine_class": "toy_engine.py:ToyEngine"}},
            "spec": "bench.spec.json",
        }
        (place.folder / "toy.json").write_text(json.dumps(repository))

    def add(
        self, version: str, *, bias: float = 0, reads_net: bool = True, requires: str = ""
    ) -> None:
        info = f"toy-{version}.dist-info"
        requirement = f"Requires-Dist: {requires}\n" if requires else ""
        files = {
            "toy.py": f"VERSION = {version!r}\nBIAS = {bias}\nREADS_NET = {reads_net}\n",
            # The packages that an engine in Python needs, which no wheel of the folder holds.
            "toy_base.pth": f"{Path(np.__file__).parents[1]}\n",
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: toy\nVersion: {version}\n"
            + requirement,
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
            "Tag: py3-none-any\n",
        }
        record = "".join(
            f"{name},sha256={hashlib.sha256(text.encode()).hexdigest()},{len(text)}\n"
            for name, text in files.items()
        )
        path = self.folder / f"toy-{version}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            for name, text in (files | {f"{info}/RECORD": record}).items():
                wheel.writestr(name, text)


@pytest.fixture
def wheels(place: Workplace) -> Wheels:
    return Wheels(place)


def test_skips_a_version_that_cannot_be_installed(place: Workplace, wheels: Wheels) -> None:
    for version in ("1.8", "1.9", "1.10"):
        wheels.add(version)
    wheels.add("1.11", requires="no-such-package")
    for version in ("1.12", "1.13", "1.14"):
        wheels.add(version, bias=0.5)
    wheels.add("1.9.1")
    command = ("bisect", "toy.json", "1.8..1.14", "--metric", "outputs_max_abs_error")
    found = place.run(*command, timeout_s=400)
    assert found.code == 6, found
    assert "7 versions after 1.8" in found.out
    assert "suspect    1.11\n" in found.out, "it cannot be installed, and may be the one"
    assert "suspect    1.12\n" in found.out
    assert "suspect    1.10\n" not in found.out, "1.10 is newer than 1.9"
    (failed,) = place.query(
        "SELECT document FROM engine_build WHERE json_extract(document, '$.outcome') = 'failed'"
    )
    assert "no-such-package" in Path(json.loads(failed[0])["log"]).read_text()


def test_finds_two_versions_that_changed_answers(place: Workplace, wheels: Wheels) -> None:
    for minor in range(8):
        wheels.add(f"2.{minor}", bias=0.5 * (minor >= 3) + 0.25 * (minor >= 6))
    found = place.run(
        "bisect", "toy.json", "2.0..2.7", "--metric", "outputs_max_abs_error", timeout_s=400
    )
    assert found.code == 0, found
    parts = [line.split() for line in found.out.splitlines() if line.startswith("  part ")]
    assert parts == [["part", "2.3", "toy==2.3"], ["part", "2.6", "toy==2.6"]]
    assert "version    2.3  toy==2.3\n" in found.out, "the larger one"


def test_finds_the_first_version_that_runs_a_program(place: Workplace, wheels: Wheels) -> None:
    for minor in range(6):
        wheels.add(f"3.{minor}", reads_net=minor >= 4)
    found = place.run("bisect", "toy.json", "3.0..3.5", "--metric", "fails", timeout_s=400)
    assert found.code == 0, found
    assert "version    3.4  toy==3.4\n" in found.out


def test_tells_what_is_wrong_with_versions(place: Workplace, wheels: Wheels) -> None:
    wheels.add("1.0")
    unknown = place.run("bisect", "toy.json", "1.0..3.0")
    assert unknown.code == 2, unknown
    assert "no version of toy '3.0'; did you mean '1.0'?" in unknown.err
    no_engine = place.run("bisect", "toy==1.0..2.0", "--spec", "bench.spec.json")
    assert "no engine of Assay comes in the package 'toy'" in no_engine.err
    nothing = place.run("bisect", "onnxruntime==1.0..2.0")
    assert nothing.code == 2, nothing
    assert "say what to measure: --spec" in nothing.err
