"""Finds the programs of Assay."""

import json
import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay._errors import AssayError

BUILD_FOLDER = Path("build", "release", "bin")


def find_program(name: str) -> Path:
    """The path of `assay`, `assay-agent` or `assay-runner-<engine>`.

    Looks in $ASSAY_BIN_DIR, in the scripts folder of this environment, and in build/release/bin of
    a source tree; the first that has it wins.

    Raises:
        AssayError: it is in none of them; the text says how to get it.
    """
    folders = list(_program_folders())
    for folder in folders:
        program = folder / name
        if program.is_file() and os.access(program, os.X_OK):
            return program.absolute()
    looked = ", ".join(str(folder) for folder in folders)
    raise AssayError(
        f"no program '{name}' (looked in {looked}); build it in Assay's source tree: cmake "
        f"--preset release && cmake --build build/release --target {name}; or install that tree, "
        "which brings the programs along: pip install TREE; or name their folder in ASSAY_BIN_DIR",
        code="unavailable",
    )


def find_runner(engine: str) -> Path:
    """The runner of "executorch" or of a registered build, "executorch@mine".

    Raises:
        AssayError: there is no such engine or build; the text lists those that are here.
    """
    name, _, label = engine.partition("@")
    builds = registered_builds()
    for build in builds:
        if label and (build.get("name"), build.get("label")) == (name, label):
            return Path(build["runner"])
    try:
        return find_program(f"assay-runner-{name}")
    except AssayError as error:
        known = sorted({*_runners_beside(), *(f"{b['name']}@{b['label']}" for b in builds)})
        text = f"no engine '{engine}'; here: {', '.join(known) or 'none'}. {error.message}"
        raise AssayError(text, code="not_found") from None


def registered_builds() -> list[dict[str, Any]]:
    """The builds that `assay engine add` registered; empty without any."""
    path = assay_home() / "engines" / "engines.json"
    if not path.is_file():
        return []
    try:
        return list(json.loads(path.read_text())["builds"])
    except (ValueError, KeyError, TypeError) as error:
        raise AssayError(
            f"{path} is damaged ({error}); remove it and add the builds again", code="corrupt"
        ) from error


def assay_home() -> Path:
    """The folder of the cache, the results and the registered builds."""
    if home := os.environ.get("ASSAY_HOME"):
        return Path(home).absolute()
    if home := _configured_home():
        return Path(home).expanduser()
    # A relative one is no valid one and is ignored: XDG Base Directory Specification.
    if (data := Path(os.environ.get("XDG_DATA_HOME", ""))).is_absolute():
        return data / "assay"
    return Path.home() / ".local" / "share" / "assay"


def child_environment() -> dict[str, str]:
    """This process's environment; Python children find this package and this interpreter."""
    environment = dict(os.environ)
    package_parent = str(Path(__file__).parent.parent)
    paths = [package_parent, *environment.get("PYTHONPATH", "").split(os.pathsep)]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in dict.fromkeys(paths) if path)
    environment.setdefault("ASSAY_PYTHON", sys.executable)
    return environment


def _configured_home() -> str:
    """The home of the user's configuration, which `assay` checks and this package only reads."""
    folder = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    if not folder.is_absolute():
        folder = Path(os.environ.get("HOME", "")) / ".config"
    path = folder / "assay" / "config.json"
    if not path.is_absolute() or not path.is_file():
        return ""
    try:
        return str(json.loads(path.read_text()).get("home", ""))
    except (ValueError, AttributeError) as error:
        raise AssayError(
            f"{path} is no configuration ({error}); correct it, or run assay init --reset",
            code="invalid_argument",
        ) from error


def _program_folders() -> Iterator[Path]:
    if named := os.environ.get("ASSAY_BIN_DIR"):
        yield Path(named)
    yield Path(sysconfig.get_path("scripts"))
    tree = Path(__file__).parent.parent.parent
    if (tree / "src" / "assay").is_dir():
        yield tree / BUILD_FOLDER


def _runners_beside() -> set[str]:
    prefix = "assay-runner-"
    return {
        path.name.removeprefix(prefix)
        for folder in _program_folders()
        for path in folder.glob(f"{prefix}*")
    }
