import json
import subprocess
import sys

from assay.aot import toolchain


def test_describes_versions_and_never_imports_torch():
    code = (
        "import sys; from assay.aot import toolchain; toolchain.describe(); "
        "sys.exit(int('torch' in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_prints_one_json_document():
    argv = [sys.executable, "-m", "assay.aot.toolchain"]
    document = json.loads(subprocess.run(argv, capture_output=True, text=True).stdout)
    assert document == toolchain.describe()
    assert document["schema"] == "assay/toolchain/1"
    assert document["packages"]["assay_aot"] == toolchain.AOT_VERSION


def test_id_follows_versions_and_not_the_place(monkeypatch):
    before = toolchain.describe()
    monkeypatch.setattr(sys, "executable", "/elsewhere/python")
    assert toolchain.describe()["id"] == before["id"]
    monkeypatch.setattr(toolchain, "AOT_VERSION", "next")
    assert toolchain.describe()["id"] != before["id"]


def test_missing_packages_are_null(monkeypatch):
    monkeypatch.setattr(toolchain, "PACKAGES", ("no-such-package",))
    assert toolchain.describe()["packages"]["no-such-package"] is None
