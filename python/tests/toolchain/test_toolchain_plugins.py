import importlib.metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from assay.toolchain.errors import MissingDependency, RequestError
from assay.toolchain.flows.executorch.partitioners import make_partitioner
from assay.toolchain.models.plugins import import_file, load_plugins
from assay.toolchain.recipes import recipes

PLUGINS = Path(__file__).parent / "plugins"


@pytest.fixture
def fresh(monkeypatch):
    """Plug-ins are loaded once a process; these tests load them anew."""
    caches = (load_plugins, recipes.preset_document)
    for cached in caches:
        cached.cache_clear()
    yield monkeypatch
    for cached in caches:
        cached.cache_clear()


def test_files_of_the_variable_add_models_and_recipes(fresh):
    fresh.setenv("ASSAY_PLUGINS", f"{PLUGINS / 'tiny_plugin.py'}:{PLUGINS / 'broken_plugin.py'}")
    plugins = load_plugins()
    assert list(plugins.models) == ["plugin:tiny"]
    assert recipes.recipe_from_json("plugin/xnnpack-per-op").lowering.options == {
        "per_op_mode": True
    }
    ((name, reason),) = plugins.broken.items()
    assert name.endswith("broken_plugin.py")
    assert reason == "RuntimeError: this plug-in is broken"


def test_entry_points_add_theirs(fresh):
    module = SimpleNamespace(models={"other:net": object}, metrics=["ignored here"])
    entry = SimpleNamespace(name="other", load=lambda: module)
    fresh.setattr(importlib.metadata, "entry_points", lambda group: [entry])
    fresh.delenv("ASSAY_PLUGINS", raising=False)
    assert list(load_plugins().models) == ["other:net"]


def test_a_file_is_imported_once_whatever_its_name(tmp_path):
    path = tmp_path / "json.py"
    path.write_text("value = []\n")
    assert import_file(path) is import_file(tmp_path / "." / "json.py")


def test_a_file_that_raises_is_no_module_afterwards(tmp_path):
    path = tmp_path / "bad.py"
    path.write_text("1 / 0\n")
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            import_file(path)


@pytest.fixture
def foreign(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def make(depth=1, **kwargs):\n    return ('partitioner', depth, kwargs)\n")
    return f"{path}:make"


def test_a_partitioner_can_come_from_a_file(foreign):
    assert make_partitioner(foreign, {"depth": 3}) == ("partitioner", 3, {})


def test_its_keyword_arguments_swallow_nothing(foreign):
    with pytest.raises(RequestError, match="did you mean depth"):
        make_partitioner(foreign, {"dept": 3})


def test_a_name_that_is_not_there_suggests(foreign):
    with pytest.raises(RequestError, match="did you mean make"):
        make_partitioner(foreign.replace(":make", ":mak"), {})


def test_a_backend_that_is_not_installed_is_named(monkeypatch):
    import sys

    for module in ("executorch.backends.openvino", "executorch.backends.openvino.partitioner"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependency, match="the openvino partitioner needs openvino"):
        make_partitioner("openvino", {})
