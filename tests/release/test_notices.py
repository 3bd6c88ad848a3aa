"""The notices name what is bundled, in the versions that are bundled."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "third_party_notices.py"


def versions() -> dict[str, str]:
    table = json.loads((TOOL.parent / "third_party" / "components.json").read_text("utf-8"))
    return {one["name"]: one.get("version", "") for one in table["components"]}


def test_the_notices_are_those_of_the_table() -> None:
    ended = subprocess.run([sys.executable, TOOL, "--check"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_the_table_names_the_versions_in_the_bundle() -> None:
    vl_convert = pytest.importorskip("vl_convert")
    listed = versions()
    assert listed["vega"] == vl_convert.get_vega_version()
    assert listed["vega-embed"] == vl_convert.get_vega_embed_version()
    assert listed["vega-themes"] == vl_convert.get_vega_themes_version()
    assert listed["vega-lite"].startswith(vl_convert.get_vegalite_versions()[-1] + ".")


def test_each_licence_has_its_terms() -> None:
    text = (ROOT / "THIRD_PARTY_NOTICES").read_text("utf-8")
    for words in (
        "Redistributions in binary form",
        "Permission to use, copy",
        "without limitation",
    ):
        assert words in text
