import json
import os
import subprocess
import sys
from pathlib import Path

PLUGIN = Path(__file__).parent / "plugins" / "tiny_plugin.py"


def test_prints_the_recipes_of_plug_ins_behind_its_own():
    done = subprocess.run(
        [sys.executable, "-m", "assay.toolchain.recipes.presets"],
        env={**os.environ, "ASSAY_PLUGINS": str(PLUGIN)},
        capture_output=True,
        text=True,
        check=True,
    )
    document = json.loads(done.stdout)
    assert document["schema"] == "assay/recipes/1"
    names = [recipe["name"] for recipe in document["recipes"]]
    assert names[0] == "executorch/portable"
    assert names[-1] == "plugin/xnnpack-per-op"
    assert "xnnpack-int8" in document["quantizations"]


def test_tells_the_models_of_plug_ins_and_those_that_do_not_load(tmp_path):
    loud = tmp_path / "loud.py"
    loud.write_text("print('hello')\nimport no_such_package\n")
    done = subprocess.run(
        [sys.executable, "-m", "assay.toolchain.recipes.presets"],
        env={**os.environ, "ASSAY_PLUGINS": f"{PLUGIN}{os.pathsep}{loud}"},
        capture_output=True,
        text=True,
        check=True,
    )
    document = json.loads(done.stdout)
    assert document["models"] == {"plugin:tiny": "A convolution and a ReLU."}
    ((path, error),) = document["broken"].items()
    assert path == str(loud)
    assert error == "ModuleNotFoundError: No module named 'no_such_package'"


def test_the_plug_ins_of_this_tree_are_known_by_what_they_bring():
    root = Path(__file__).parents[3]
    known = json.loads((root / "python/assay/data/plugins.json").read_text())["plugins"]
    assert known
    for plugin in known:
        done = subprocess.run(
            [sys.executable, "-m", "assay.toolchain.recipes.presets"],
            env={**os.environ, "ASSAY_PLUGINS": str(root / plugin["file"])},
            capture_output=True,
            text=True,
            check=True,
        )
        document = json.loads(done.stdout)
        assert not document["broken"]
        names = [one["name"] for one in plugin["recipes"]]
        assert [one["name"] for one in document["recipes"]][-len(names) :] == names
