"""tools/check_layers.py on small trees with one fault each."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "check_layers.py"

SOUND = {
    "src/assay/base/CMakeLists.txt": "assay_module(base LAYER 0 SRCS a.cpp)",
    "src/assay/base/a.h": "",
    "src/assay/store/CMakeLists.txt": "assay_module(store LAYER 1 SRCS sqlite/b.cpp DEPS base)",
    "src/assay/store/sqlite/b.cpp": '#include "assay/base/a.h"\n',
    "bench/CMakeLists.txt": "target_link_libraries(assay-bench PRIVATE assay_store)",
    "bench/loop.cpp": '#include "assay/base/a.h"\n#include "assay/store/b.h"\n',
    "delegates/x/src/x/k.cpp": '#include "x/k.h"\n',
}


def check(tmp_path: Path, changes: dict[str, str]) -> tuple[int, str]:
    for name, text in (SOUND | changes).items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    done = subprocess.run(
        [sys.executable, TOOL], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


def test_a_sound_tree_passes(tmp_path):
    assert check(tmp_path, {}) == (0, "")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (
            {"src/assay/base/sub/deep.cpp": '#include "assay/store/b.h"\n'},
            "src/assay/base/sub/deep.cpp: includes store, which base does not declare",
        ),
        (
            {"src/assay/store/sqlite/b.cpp": ""},
            "store declares base in DEPS, which its sources do not include; remove it",
        ),
        (
            {
                "src/assay/store/sqlite/b.cpp": "",
                "src/assay/store/b_test.cpp": '#include "assay/base/a.h"\n',
            },
            "store declares base in DEPS, which its sources do not include; "
            "only its tests do: move it to TEST_DEPS",
        ),
        (
            {
                "src/assay/store/CMakeLists.txt": (
                    "assay_module(store LAYER 0 SRCS sqlite/b.cpp DEPS base)"
                )
            },
            "store (layer 0) declares base, which is not on a lower layer",
        ),
        (
            {"src/assay/store/sqlite/b.cpp": '#include "assay/base/testing/f.h"\n'},
            "src/assay/store/sqlite/b.cpp: includes assay/base/testing/f.h, "
            "which is for tests only",
        ),
        (
            {"bench/CMakeLists.txt": "target_link_libraries(assay-bench PRIVATE assay_base)"},
            "bench/loop.cpp: includes store, which bench/CMakeLists.txt does not link",
        ),
        (
            {
                "src/features/site/CMakeLists.txt": "assay_module(site LAYER 0 SRCS s.cpp)",
                "src/assay/store/CMakeLists.txt": (
                    "assay_module(store LAYER 1 SRCS sqlite/b.cpp DEPS base site)"
                ),
                "src/assay/store/sqlite/c.cpp": '#include "features/site/s.h"\n',
            },
            "store is core and declares site, which is a feature",
        ),
        (
            {"delegates/x/src/x/k.cpp": '#include "assay/base/a.h"\n'},
            "delegates/x/src/x/k.cpp: includes base, but a delegate uses nothing of Assay",
        ),
    ],
)
def test_a_fault_is_named(tmp_path, changes, fault):
    assert check(tmp_path, changes) == (1, fault + "\n")


@pytest.mark.parametrize(
    "name", ["b_test.cpp", "b_fuzz.cpp", "testing/more.cpp", "sample_main.cpp"]
)
def test_tests_may_include_fixtures(tmp_path, name):
    fixture = {f"src/assay/store/{name}": '#include "assay/base/testing/f.h"\n'}
    assert check(tmp_path, fixture) == (0, "")
