import json
import os
import subprocess
import sys
from pathlib import Path

PLUGIN = Path(__file__).parent / "plugins" / "tiny_plugin.py"


def test_prints_the_recipes_of_plug_ins_behind_its_own():
    done = subprocess.run(
        [sys.executable, "-m", "assay.aot.presets"],
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
