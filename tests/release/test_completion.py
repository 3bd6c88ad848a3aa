"""The completion scripts in their shells: what a press of the tabulator key offers."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("ASSAY_BIN_DIR", ROOT / "build" / "release" / "bin"))

BASH = """
source <(assay completion bash)
COMP_LINE=$1 COMP_POINT=${#1}
# As readline does: ':' and '=' part words, and stand alone.
read -ra COMP_WORDS <<<"$(sed 's/[:=]/ & /g' <<<"$1")"
[[ $1 == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_assay 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = """
_describe() { print -l -- ${${described%%:[A-Z]*}%:} }
_files() { print files }
words=(${=1}); [[ $1 == *' ' ]] && words+=('')
CURRENT=$#words
compdef() { registered=$2 }
source <(assay completion zsh)
_$registered
"""
FISH = 'assay completion fish | source; complete -C "$argv[1]"'


def offered(shell: str, script: str, line: str, folder: Path) -> list[str]:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    arguments = {"bash": ["-c", script, "bash", line], "zsh": ["-fc", script, "zsh", line]}
    ended = subprocess.run(
        [shell, *arguments.get(shell, ["-Nc", script, line])],
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "ASSAY_HOME": str(folder / "home"),
            "HOME": str(folder),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stderr == ""
    return [text.split("\t")[0] for text in ended.stdout.splitlines()]


SHELLS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("assay mer", ["merge"]),
        ("assay engine ", ["add", "build", "check", "gc", "list", "remove"]),
        ("assay bench net.py:make --thre", ["--threads"]),
        ("assay conform --tier f", ["full", "fuzz"]),
        ("assay bench --recipe executorch/xnnpack-fp32,openvino/fp3",
         ["executorch/xnnpack-fp32,openvino/fp32"]),
    ],
)  # fmt: skip
def test_words_are_those_of_the_command_line(
    shell: str, line: str, words: list[str], tmp_path: Path
) -> None:
    names = [name for name in offered(shell, SHELLS[shell], line, tmp_path) if name != "files"]
    assert sorted(names) == sorted(words)


def test_a_word_with_a_colon_is_completed_behind_it_in_bash(tmp_path: Path) -> None:
    assert "mobilenet_v2" in offered("bash", BASH, "assay bench torchvision:mobilenet", tmp_path)
    assert offered("bash", BASH, "assay conform --tier=q", tmp_path) == ["quick"]


def test_files_are_offered_where_a_file_may_stand(shell: str, tmp_path: Path) -> None:
    (tmp_path / "net.pte").write_bytes(b"")
    names = offered(shell, SHELLS[shell], "assay inspect ", tmp_path)
    assert ("files" if shell == "zsh" else "net.pte") in names
    assert "net.pte" not in offered(shell, SHELLS[shell], "assay list ", tmp_path)


def test_the_manual_page_is_one_that_man_shows_without_warnings(tmp_path: Path) -> None:
    if shutil.which("man") is None:
        pytest.skip("man is not installed")
    page = tmp_path / "assay.1"
    page.write_bytes(subprocess.run([BIN / "assay", "manual"], capture_output=True).stdout)
    shown = subprocess.run(
        ["man", "--warnings", "-l", str(page)],
        env={**os.environ, "LC_ALL": "C.UTF-8", "MANPAGER": "cat", "MANWIDTH": "100"},
        capture_output=True,
        text=True,
    )
    assert shown.stderr == ""
    for words in ("assay engine add [OPTIONS] reference", "--time-budget DURATION", "EXIT STATUS"):
        assert words in shown.stdout
