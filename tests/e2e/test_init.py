"""The configuration: what `assay init` writes and shows, and that each key takes effect."""

import json
import os
import pty
import stat
import subprocess
from pathlib import Path

import pytest
from driver import BIN, ROOT, Document, Finished, Workplace, assert_told

PAGE = ROOT / "docs" / "reference" / "configuration.md"


class Config:
    """The user's file of a workplace, whose variables do not stand in front of it."""

    def __init__(self, place: Workplace) -> None:
        self.place = place
        self.file = Path(place.env["XDG_CONFIG_HOME"]) / "assay" / "config.json"
        del place.env["NO_COLOR"]

    def write(self, **values: object) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps({"schema": "assay/config/1", **values}))

    def read(self) -> Document:
        return json.loads(self.file.read_text())

    def shown(self) -> dict[str, tuple[str, str]]:
        """Value and origin of each key."""
        document = self.place.ok("init", "--show", "--format", "json").json()
        return {row["key"]: (row["value"], row["origin"]) for row in document["keys"]}


@pytest.fixture
def config(place: Workplace) -> Config:
    return Config(place)


def test_yes_writes_a_file_that_a_second_call_leaves_alone(
    place: Workplace, config: Config
) -> None:
    first = place.ok("init", "--yes")
    assert f"wrote {config.file}" in first.err
    assert config.read() == {"schema": "assay/config/1"}
    assert stat.S_IMODE(config.file.stat().st_mode) == 0o600
    before = config.file.stat().st_mtime_ns
    second = place.ok("init", "--yes")
    assert second.err == ""
    assert second.out == first.out
    assert config.file.stat().st_mtime_ns == before
    assert list(config.file.parent.iterdir()) == [config.file]


def test_without_a_terminal_it_asks_nothing_and_names_the_flags(
    place: Workplace, config: Config
) -> None:
    assert_told(place.run("init"), 2, "--yes", "--set KEY=VALUE", "--show")
    assert not config.file.exists()


def test_values_are_set_and_unset_and_shown_with_their_origin(
    place: Workplace, config: Config
) -> None:
    assert config.shown()["threads"] == ("the engine's choice", "built in")
    place.ok("init", "--set", "threads=2", "--set", "launches=4", "--set", "min_effect=0.5")
    expected = {"schema": "assay/config/1", "threads": 2, "launches": 4, "min_effect": 0.5}
    assert config.read() == expected
    assert config.shown()["threads"] == ("2", str(config.file))
    (place.folder / "assay.json").write_text('{"schema": "assay/config/1", "threads": 8}')
    shown = config.shown()
    assert shown["threads"] == ("8", str(place.folder / "assay.json"))
    assert shown["launches"] == ("4", str(config.file))
    assert shown["home"] == (str(place.home), "$ASSAY_HOME")
    assert shown["store"] == (str(place.store), "built in")
    place.ok("init", "--unset", "launches", "--set", "min_effect=3")
    assert config.read() == {"schema": "assay/config/1", "threads": 2, "min_effect": 3}


def test_show_changes_nothing(place: Workplace, config: Config) -> None:
    shown = place.ok("init", "--show").out
    assert f"{config.file} (does not exist)" in shown
    assert not config.file.exists()


def test_reset_moves_the_file_aside_and_leaves_the_store(place: Workplace, config: Config) -> None:
    place.ok("init", "--set", "threads=2")
    place.ok("run", place.spec(place.program("net")), "--quiet")
    store = place.store.read_bytes()
    aside = config.file.with_name("config.json.old")
    assert str(aside) in place.ok("init", "--reset").out
    assert json.loads(aside.read_text())["threads"] == 2
    assert not config.file.exists()
    assert place.store.read_bytes() == store
    assert "does not exist" in place.ok("init", "--reset").out


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--set", "thread=2"], ["unknown key 'thread'", "did you mean 'threads'?"]),
        (["--set", "threads"], ["write KEY=VALUE"]),
        (["--set", "threads=many"], ["threads", "an integer from 1 to 1024"]),
        (["--set", "threads=2", "--set", "format=htm"], ["did you mean 'html'?"]),
        (["--unset", "lanches"], ["did you mean 'launches'?"]),
        (["--show", "--set", "threads=2"], ["--show and --set exclude each other"]),
        (["--reset", "--yes"], ["--reset and --yes exclude each other"]),
    ],
)
def test_a_wrong_request_changes_nothing(
    arguments: list[str], parts: list[str], place: Workplace, config: Config
) -> None:
    assert_told(place.run("init", *arguments), 2, *parts)
    assert not config.file.exists()


def test_a_broken_file_is_told_by_every_verb_with_the_way_out(
    place: Workplace, config: Config
) -> None:
    config.write()
    config.file.write_text('{"schema": "assay/config/1",\n "threads": }')
    for arguments in (["runs"], ["init", "--show"], ["init", "--set", "threads=1"]):
        assert_told(place.run(*arguments), 2, str(config.file), "line 2", "`assay init --reset`")
    assert place.run("runs", "--help").code == 0
    assert place.ok("complete", "assay", "ru").out.split()
    place.ok("init", "--reset")
    place.ok("init", "--yes")
    assert str(place.store) in place.ok("runs").err


def test_a_wrong_key_in_the_file_is_told_by_every_verb(place: Workplace, config: Config) -> None:
    config.write(thread=2)
    assert_told(place.run("runs"), 2, f"{config.file}: unknown key 'thread'", "'threads'?")


def test_a_folder_that_cannot_be_written_is_told(place: Workplace, config: Config) -> None:
    occupied = place.folder / "occupied"
    occupied.write_text("")
    place.env["XDG_CONFIG_HOME"] = str(occupied)
    finished = place.run("init", "--yes")
    assert_told(finished, 3, f"cannot make the folder '{occupied}/assay'", "XDG_CONFIG_HOME")
    if os.geteuid() == 0:
        return  # To whom no folder is read-only.
    config.file.parent.mkdir(parents=True)
    config.file.parent.chmod(0o500)
    place.env["XDG_CONFIG_HOME"] = str(config.file.parent.parent)
    assert_told(place.run("init", "--yes"), 3, "cannot write", "XDG_CONFIG_HOME")


def answered(place: Workplace, text: str) -> Finished:
    """`assay init` on a terminal where somebody types."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [str(BIN / "assay"), "init"],
        stdin=slave,
        stderr=slave,
        stdout=subprocess.PIPE,
        env=place.env,
        cwd=place.folder,
        text=True,
    )
    os.close(slave)
    os.write(master, text.encode())
    out, _ = process.communicate(timeout=60)
    told = os.read(master, 1 << 16).decode()
    os.close(master)
    return Finished(process.returncode, out, told)


def test_it_asks_on_a_terminal_and_again_after_a_wrong_answer(
    place: Workplace, config: Config
) -> None:
    finished = answered(place, "\nmuch\n2GB\n\nlab-3\n")
    assert finished.code == 0, finished
    assert "a size such as 500MB" in finished.err
    assert config.read() == {
        "schema": "assay/config/1",
        "cache_limit": "2GB",
        "device_name": "lab-3",
    }


def test_an_end_of_the_answers_writes_nothing(place: Workplace, config: Config) -> None:
    assert answered(place, "\n5GB\n\x04").code == 2
    assert not config.file.exists()


# ---- each key takes effect


def launches_and_threads(place: Workplace, *flags: str) -> tuple[int, int]:
    program = place.program("net")
    place.ok(
        "bench",
        program,
        "--engine",
        "fake",
        "--iterations",
        "4",
        "--warmup",
        "1",
        "--quiet",
        *flags,
    )
    spec = json.loads(place.query("select spec from run order by started_unix_ns desc")[0][0])
    return spec["measure"]["launches"], spec["options"]["threads"][0]


def test_flags_are_over_the_project_and_that_over_the_user(
    place: Workplace, config: Config
) -> None:
    config.write(threads=2, launches=1)
    assert launches_and_threads(place) == (1, 2)
    (place.folder / "assay.json").write_text('{"schema": "assay/config/1", "threads": 3}')
    assert launches_and_threads(place) == (1, 3)
    assert launches_and_threads(place, "--threads", "4", "--launches", "2") == (2, 4)
    assert config.read() == {"schema": "assay/config/1", "threads": 2, "launches": 1}


def test_a_spec_means_the_same_on_every_machine(place: Workplace, config: Config) -> None:
    spec = place.spec(place.program("net"), measure={"iterations": 4, "warmup": 1})
    place.ok("run", spec, "--quiet")
    launches = "select count(*) from launch"
    without = place.query(launches)
    place.store.unlink()
    config.write(threads=2, launches=1)
    place.ok("run", spec, "--quiet")
    assert place.query(launches) == without
    assert "threads" not in json.dumps(place.report()["cases"][0]["options"])


def test_places_are_configured_and_variables_are_over_them(
    place: Workplace, config: Config
) -> None:
    place.env.pop("ASSAY_HOME")
    config.write(home=str(place.folder / "elsewhere"), python="/absent/python")
    shown = place.run("doctor").out
    assert f"store        {place.folder / 'elsewhere' / 'assay.db'}" in shown
    assert "/absent/python" in shown
    config.write(home=str(place.folder / "elsewhere"), store=str(place.folder / "mine.db"))
    place.ok("run", place.spec(place.program("net")), "--quiet")
    assert (place.folder / "mine.db").exists()
    assert not (place.folder / "elsewhere" / "assay.db").exists()
    place.env["ASSAY_STORE"] = str(place.folder / "variable.db")
    assert str(place.folder / "variable.db") in place.ok("runs").err
    place.env["ASSAY_HOME"] = str(place.folder / "home")
    assert f"home         {place.folder / 'home'}" in place.run("doctor").out


def test_limits_are_configured(place: Workplace, config: Config) -> None:
    config.write(cache_limit="7MB", builds_limit="3MB")
    assert "7 MB" in place.ok("cache").out
    assert "[default: 3MB]" in place.ok("engine", "gc", "--help").out


def test_the_format_gives_way_to_an_extension_and_a_flag(place: Workplace, config: Config) -> None:
    place.ok("run", place.spec(place.program("net")), "--quiet")
    config.write(format="json")
    assert place.ok("report").json()["schema"].startswith("assay/report/")
    assert place.ok("report", "--format", "csv").out.startswith("run,case_key,")
    place.ok("report", "--out", "report.md")
    assert (place.folder / "report.md").read_text().startswith("#")


def test_the_device_has_a_name_in_the_labels_of_runs(place: Workplace, config: Config) -> None:
    config.write(device_name="lab-3")
    spec = place.spec(place.program("net"))
    place.ok("run", spec, "--quiet")
    place.ok("run", spec, "--quiet", "--label", "device=mine")
    for name in ("lab-3", "mine"):
        listed = place.ok("runs", "--label", f"device={name}").out.splitlines()
        assert len(listed) == 2, "the header, and one run"
        assert listed[1].endswith(f"device={name}")


def test_the_smallest_effect_is_the_default_of_two_verbs(place: Workplace, config: Config) -> None:
    config.write(min_effect=12.5)
    for verb in ("compare", "history"):
        assert "[default: 12.5]" in place.ok(verb, "--help").out
    rows = "".join(f"c{i},{100 + (5 if i >= 20 else 0) + i % 3}\n" for i in range(40))
    (place.folder / "times.csv").write_text(f"commit,value\n{rows}")
    configured = place.ok("history", "--from", "times.csv").out
    assert configured != place.ok("history", "--from", "times.csv", "--min-effect", "1").out


def test_colours_are_switched_off(place: Workplace, config: Config) -> None:
    place.ok("run", place.spec(place.program("net")), "--quiet")

    def on_a_terminal(*arguments: str) -> bytes:
        master, slave = pty.openpty()
        subprocess.run(
            [str(BIN / "assay"), *arguments], stdout=slave, env=place.env, cwd=place.folder
        )
        os.close(slave)
        text = os.read(master, 1 << 16)
        os.close(master)
        return text

    assert b"\x1b[" in on_a_terminal("report")
    config.write(colour="never")
    assert b"\x1b[" not in on_a_terminal("report")


def test_files_of_fai_pep_are_found_where_the_configuration_says(
    place: Workplace, config: Config
) -> None:
    files = {
        "graph": {"filename": "net.tflite", "location": "//models/net.tflite"},
        "labels": {"filename": "labels", "location": "https://example.org/labels"},
    }
    test = {
        **{"identifier": "net", "metric": "delay", "iter": 1},
        "commands": ["{program} --graph={files.graph} --labels={files.labels}"],
    }
    model = {"name": "net", "format": "tflite", "files": files}
    path = place.folder / "net.json"
    path.write_text(json.dumps({"model": model, "tests": [test]}))
    listing = ("run", path, "--program", "program=/bin/true", "--dry-run")
    assert "--mirror" in place.run(*listing).out, "nothing says where the files are"
    for name in ("root/models/net.tflite", "mirror/labels", "flag/models/net.tflite"):
        (place.folder / name).parent.mkdir(parents=True)
        (place.folder / name).write_text("")
    mirrors = ["https://other.example/=/absent", f"https://example.org/={place.folder}/mirror"]
    config.write(root=str(place.folder / "root"), mirrors=mirrors)
    listed = place.ok(*listing).out
    assert f"--graph={place.folder}/root/models/net.tflite" in listed
    assert f"--labels={place.folder}/mirror/labels" in listed
    flag = place.folder / "flag"
    assert f"--graph={flag}/models/net.tflite" in place.ok(*listing, "--root", flag).out


def test_a_project_chooses_no_programs(place: Workplace, config: Config) -> None:
    project = place.folder / "assay.json"
    project.write_text('{"schema": "assay/config/1", "python": "/tmp/evil", "threads": 1}')
    assert_told(place.run("runs"), 2, f"{project}: 'python' is for the user's configuration")
    project.write_text('{"schema": "assay/spec/1"}')
    place.ok("runs")


# ---- a repository file


def test_a_repository_file_builds_what_it_found(place: Workplace, config: Config) -> None:
    source = place.folder / "toy"
    source.mkdir()
    (source / "Makefile").write_text("all: bench\nbench:\n\techo 'echo 1' > bench\n")
    settings = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "begin"]):
        subprocess.run(["git", *settings, *arguments], cwd=source, check=True)
    written = place.ok("init", "--repository", "toy")
    assert "built by Makefile, program bench" in written.out
    assert "toy@" in place.ok("engine", "build", "toy.json", "HEAD").out
    assert_told(place.run("init", "--repository", "toy"), 2, "'toy.json' exists", "--out")
    place.ok("init", "--repository", "toy", "--out", "other.json")
    assert not config.file.exists()


# ---- the page


def test_the_page_has_the_table_of_the_keys(place: Workplace) -> None:
    keys = place.ok("init", "--show", "--format", "json").json()["keys"]
    rows = []
    for key in keys:
        names = [f"`{key[name]}`" if key[name] else "" for name in ("variable", "flag")]
        project = "yes" if key["project"] else ""
        cells = [f"`{key['key']}`", key["meaning"], key["values"], key["built_in"], *names, project]
        rows.append(" ".join(f"| {cell}" if cell else "|" for cell in cells) + " |")
    assert "\n".join(rows) in PAGE.read_text(encoding="utf-8"), "\n".join(rows)
