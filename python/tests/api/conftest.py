import json
import os
from pathlib import Path

import pytest
from warm_python import find_warm_python

from assay import AssayError, _models, _paths

TINY = f"{Path(__file__).parent / 'models' / 'tiny.py'}:make"
FP32 = "executorch/xnnpack-fp32"


@pytest.fixture(scope="session", autouse=True)
def assay_home(tmp_path_factory):
    """Results and cache of these tests only."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_HOME", str(home))
        patch.setenv("XDG_CONFIG_HOME", str(home / "config"))
        yield home


@pytest.fixture(scope="session")
def programs():
    """The folder of Assay's programs; needs a build and the extension module."""
    pytest.importorskip("assay._core", reason="build it: ninja -C build/release assay_python")
    try:
        return _paths.find_program("assay").parent
    except AssayError as error:
        pytest.skip(error.message)


@pytest.fixture
def fake_program(programs, tmp_path):
    """Makes a program of the fake engine: y = 2 x + 1 over four float32, unless told otherwise."""

    def make(**changes):
        document = {
            "inputs": [{"name": "x", "dtype": "float32", "shape": [2, 2]}],
            "outputs": [{"name": "y", "dtype": "float32", "shape": [2, 2]}],
            "output": {"rule": "affine", "a": 2, "b": 1},
            **changes,
        }
        path = tmp_path / "program.fake.json"
        path.write_text(json.dumps(document))
        return path

    return make


@pytest.fixture(scope="session")
def warm_toolchain():
    """Lets `assay` find the toolchain with its imports done."""
    os.environ["ASSAY_PYTHON"] = find_warm_python()


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and item.get_closest_marker("engine"):
            item.fixturenames.insert(0, "warm_toolchain")


@pytest.fixture(scope="session")
def tiny_pte(programs, warm_toolchain, tmp_path_factory):
    """models/tiny.py:make as a .pte, made by `assay aot`."""
    folder = tmp_path_factory.mktemp("tiny")
    return _models.make_program(TINY, recipe=FP32, seed=0, folder=folder).entry
