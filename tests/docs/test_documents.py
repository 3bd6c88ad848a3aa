"""Runs the commands, specs and Python of README and docs."""

import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from blocks import BLOCKS, ROOT, Block
from postgres import PostgresServer, postgres_server
from warm_python import find_warm_python
from warm_scripts import run_script

__all__ = ["postgres_server"]

BIN = Path(os.environ.get("ASSAY_BIN_DIR", ROOT / "build" / "release" / "bin"))
pytestmark = pytest.mark.skipif(not (BIN / "assay").exists(), reason="build first")

REDUCE_LOG = "assay reduce aten.log.default/float32/log-0 --recipe executorch/xnnpack-fp32"
REDUCE_CONV = "assay reduce models/conv_called_twice --recipe executorch/xnnpack-int8"
NOT_TYPED = {
    "make demo": "minutes; its command is one of the README's",
    "make test": "runs this test",
    "make test-long": "half an hour: the tests that this run leaves out",
    "make test-fresh": "more than an hour: types make demo and make test in a bare Debian root",
    "python bench/default_bounds.py FOLDER": "minutes: fifteen programs are made and evaluated",
    "make check": "this run has its tests, and .ci/run its make lint",
    "assay store grant worker bot --store postgresql://lab@db.example/results": (
        "a user of the reader's server: tests/e2e/test_postgres_store.py types its like"
    ),
    **dict.fromkeys(
        ("make wheel", "pip install --find-links dist 'assay[executorch,openvino]'"),
        "minutes: make test-wheel does both, in a bare Debian root",
    ),
    **dict.fromkeys(
        (
            "cmake -S examples/engines/toy_cpp -B build/toy -G Ninja -DASSAY_SOURCE=$PWD",
            "cmake --build build/toy",
            "assay engine add toy_cpp@1 --runner build/toy/assay-runner-toy_cpp",
            "assay engine check toy_cpp@1 --program examples/engines/net.toysize --loads 100",
        ),
        "minutes: half of Assay is built once more",
    ),
    **dict.fromkeys(
        (
            "make arm",
            "assay bench torchvision:mobilenet_v2 --recipe tosa/int8 --launches 1 --iterations 1",
            "assay aot torchvision:mobilenet_v2 --recipe tosa/int8 --out tosa-int8",
            "assay inspect tosa-int8/program.tosa",
            "assay aot torchvision:mobilenet_v2 --recipe executorch/ethos-u55-128",
            "assay aot torchvision:mobilenet_v2 --recipe executorch/cortex-m-int8",
            "assay aot torchvision:mobilenet_v2 --recipe vgf/int8 --out vgf-int8",
            "assay bench vgf-int8/program.vgf --launches 1 --iterations 1",
        ),
        "an environment of its own: tests/e2e/test_arm.py types their like where it is there",
    ),
    "source .venv/bin/activate; export PATH=$PWD/build/release/bin:$PATH": "see Reader.env",
    **dict.fromkeys(
        (
            "make qnn",
            "assay aot torchvision:mobilenet_v3_small --recipe executorch/qnn-8a8w --out qnn",
            "assay bench torchvision:mobilenet_v3_small --recipe onnxruntime/fp32 "
            "--option provider=QNNExecutionProvider",
        ),
        "libraries that only those install who accept their licence: tests of QNN type its like",
    ),
    "python tools/approve.py": "writes the goldens",
    "assay conform --recipe executorch/xnnpack-fp32,executorch/portable": (
        "minutes: every operator is lowered"
    ),
    **dict.fromkeys(
        (
            "assay engine build toy.json main~1 main",
            "assay bench net.command.json --engine toy@0123456789ab",
            "assay compare net.command.json --engine toy@0123456789ab,toy@ba9876543210",
        ),
        "a repository of the reader's: tests/e2e/test_engine_builds.py types their like",
    ),
    **dict.fromkeys(
        (
            "assay engine add executorch@vulkan --source CHECKOUT --backends vulkan",
            "assay bench torchvision:mobilenet_v2 --recipe executorch/vulkan-fp32",
        ),
        "a checkout of the reader's: tests/tools/test_executorch_backends.py builds a small one",
    ),
    **dict.fromkeys(
        (
            "assay device add ssh:pi5",
            "assay bench torchvision:mobilenet_v3_small --recipe executorch/xnnpack-fp32 "
            "--device pi5",
            "pip download --no-deps --only-binary=:all: --platform manylinux_2_28_aarch64 "
            "executorch==1.5.1",
            "python -m zipfile -e executorch-*.whl wheel",
            "assay engine add executorch@mine --prefix wheel --triple aarch64-linux-gnu",
            "assay bench MODEL --recipe executorch/xnnpack-fp32 --engine executorch@mine "
            "--device pi5",
            "assay bench torchvision:mobilenet_v3_small --recipe executorch/xnnpack-fp32 "
            "--device pi5,pi4,local",
            "assay run spec.json --device class:linux-aarch64 --exclude-device pi4",
            "assay bench program.pte --device pi5 --scenario duration=burst,5min --launches 3",
            "assay bench program.pte --device pi5 --scenario duration=5min",
        ),
        "a device of the reader's: tests/devices and tests/e2e/test_sensors.py type their like",
    ),
    **dict.fromkeys(
        (
            "assay run spec.json --executor lab --device class:linux-aarch64",
            "assay work --executor lab --device pi5",
            "assay work --describe --device pi5 --out /shared/assay/devices/pi5.json",
            "assay watch toy.json --executor lab --device class:linux-aarch64",
            "assay bisect toy.json v1.0..HEAD --executor lab",
        ),
        "a fleet of the reader's: tests/e2e/test_fleet.py and its like for PostgreSQL type theirs",
    ),
    **dict.fromkeys(
        (
            "python tools/job_worker.py /srv/farm --runner build/release/bin/assay-runner-fake",
            "assay device add folder:/srv/farm",
            "assay bench torchvision:mobilenet_v3_small --recipe executorch/xnnpack-fp32 "
            "--device farm",
            "assay aot torchvision:mobilenet_v3_small --recipe executorch/coreml-fp32 --out coreml",
            "assay eval torchvision:mobilenet_v3_small --recipe executorch/coreml-fp32 "
            "--device mac",
        ),
        "a folder of the reader's: tests/e2e/test_job_folder.py types their like",
    ),
    **dict.fromkeys(
        (
            "assay watch toy.json --dry-run",
            "assay watch toy.json --for 2h",
            "assay watch toy.json --status",
            "assay watch toy.json --acknowledge 019ab3c2",
            'assay watch toy.json --accept 019ab3c2 --note "the price of exact rounding"',
            "assay watch toy.json --base origin/main --head HEAD --format md",
            "assay history toy.json",
            "assay bisect toy.json v1.0..HEAD",
            "assay bisect toy.json v1.0..HEAD --metric fails",
            "assay bisect toy.json v1.0..HEAD --only mobilenet --budget 30min",
            "assay bisect toy.json O1..O3 --at HEAD",
        ),
        "a repository of the reader's: tests/e2e/test_watch.py types their like",
    ),
    **dict.fromkeys(
        (
            "assay bisect onnxruntime==1.23.0..1.27.0 --spec model.onnx",
            "assay bisect onnxruntime==1.23.0..1.27.0 --spec bench.json "
            "--metric outputs_max_abs_error",
        ),
        "an index of packages: tests/e2e/test_bisect_wheels.py types their like",
    ),
    **dict.fromkeys(
        (
            f"{REDUCE_LOG} --bundle log",
            REDUCE_CONV,
            f"{REDUCE_CONV} --replay conv.jsonl",
        ),
        "minutes: dozens of programs are lowered; tests/e2e/test_reduce.py types their like",
    ),
    **dict.fromkeys(
        (
            "assay serve",
            "assay serve --port 0 --store results.db",
            "assay serve --store large.db",
            "python tests/campaigns/large_store.py large.db --runs 10000 --launches 100",
            "python tests/campaigns/site_pages.py large.db",
            "assay serve --host 0.0.0.0 --read-token-file read.token",
            "assay serve --public-name results.example.org --read-token-file read.token",
            "assay serve --read-token-file read.token --add-token-file add.token",
            "assay bench torchvision:resnet18 --recipe executorch/xnnpack-fp32 --store part.db",
        ),
        "a server, which does not end: tests/e2e/test_site.py types their like",
    ),
}
QUICKLY = " --most-pairs 10 --iterations 3 --warmup 1 --budget 2s"
THREADS = "--recipe executorch/xnnpack-fp32 --threads 1,2"
DELEGATE = (
    "--plugin delegates/fixedpoint/assay_plugin.py --library build/release/lib/libfixedpoint.so"
)
GAP_COMPARISON = (
    "assay compare program.pte --threads 1 "
    "--scenario gap=0ms,5ms --metric steady_ns --most-pairs 10"
)
TYPED_OTHERWISE = {
    # All nine cases would take minutes.
    "assay run specs/mobilenet.json --report report.html --report results.csv": " --dry-run",
    "python -m assay.toolchain.server --jobs 2": " < /dev/null",
    "assay conform --tier fuzz --seed 7 --count 20 --recipe executorch/portable": " --dry-run",
    # Four networks with three recipes take five minutes.
    f"assay run delegates/fixedpoint/specs/fixedpoint.json {DELEGATE}": " --only v3_small",
    # On a busy machine dozens of pairs are launched.
    f"assay compare torchvision:resnet18 {THREADS}": QUICKLY,
    f"assay compare torchvision:mobilenet_v2 {THREADS}": QUICKLY,
    # Two hundred gaps make a launch of a second, and there are more than twenty.
    GAP_COMPARISON: " --iterations 3 --warmup 1",
    # Two minutes: each layer is lowered. The guide's smaller network is attributed in full.
    "assay attribute torchvision:mobilenet_v3_small --recipe executorch/xnnpack-int8": " --dry-run",
    # Half a minute is spent on pairs.
    "assay calibrate": " --for 2s",
    "assay calibrate program.pte": " --for 2s",
}
SHORTLY = " --launches 1 --iterations 3 --warmup 1"
"""Dozens of inferences take most of a command on a network, and no test looks at their times."""


READS_RESULTS = re.compile(r"assay (runs|report|history)\b")
"""These depend on the commands before: those of each page are typed. Others are typed once."""


def typed(command: str) -> str:
    """A command as it is typed here: as the page has it, or with further flags."""
    is_network = re.match(r"assay (bench|profile) torchvision:", command)
    return command + TYPED_OTHERWISE.get(command, SHORTLY if is_network else "")


EXIT_CODES: dict[str, int | set[int]] = {
    # The pause does cost something, on most machines.
    GAP_COMPARISON: {0, 1, 6},
    f"assay compare torchvision:resnet18 {THREADS}": {0, 1, 6},  # On a busy machine two are slower.
    f"assay compare torchvision:mobilenet_v2 {THREADS}": {0, 1, 6},
    # Three of its programs fail on order; resumed, they have failed before.
    "assay run robust.json --launch-timeout 1s --memory-limit 200MB": 1,
    "assay run --resume latest": 1,
}

NET = """
import torch

def make():
    return torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU()), (torch.randn(2, 8),)
"""
FAKE = """{"inputs": [{"dtype": "float32", "shape": [1, 4]}],
 "outputs": [{"dtype": "float32", "shape": [1, 4]}]%s}"""
FAKES = {
    "crash": ', "misbehave": {"at": "steady", "do": "segfault"}',
    "hang": ', "misbehave": {"at": "steady", "do": "hang"}',
    "greedy": ', "misbehave": {"at": "steady", "do": "eat_memory"}',
    "fine": "",
}
SPEC = """{"schema": "assay/spec/1", "engines": ["fake"], "models": ["fine.fake.json"],
 "measure": {"launches": 1, "passes": ["timing"], "time_budget": "1s"}}"""
COMMAND = """{"argv": ["true"], "time_pattern": "^([0-9.]+)$", "time_unit": "us",
 "inputs": [{"name": "x", "dtype": "float32", "shape": [1, 4]}]}"""


@dataclass(frozen=True)
class Reader:
    """Somebody with the files that the pages speak of, and with a store of their own."""

    folder: Path

    @property
    def env(self) -> dict[str, str]:
        paths = [str(BIN), str(Path(sys.executable).parent), os.environ["PATH"]]
        return {
            **os.environ,
            "PATH": ":".join(paths),
            "ASSAY_HOME": str(self.folder / "home"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "ASSAY_PYTHON": find_warm_python(),
        }

    def type(self, command: str) -> subprocess.CompletedProcess[str]:
        is_of_project = re.search(r"\b(tools|examples|build/release|build/toy)\b", command)
        return subprocess.run(
            ["bash", "-c", command],
            cwd=ROOT if is_of_project else self.folder,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )


def write_fai_pep_files(folder: Path) -> None:
    """A file of FAI-PEP, its graph here and in a cache, and what stands for its program."""
    graph = b"graph"
    location = {
        "filename": "mobilenet.tflite",
        "location": "https://models.example/mobilenet.tflite",
        "md5": hashlib.md5(graph, usedforsecurity=False).hexdigest(),
    }
    test = {
        "identifier": "mobilenet",
        "metric": "delay",
        "iter": 50,
        "warmup": 1,
        "commands": ["{program} --graph={files.graph} --num_runs={iter}"],
    }
    model = {"name": "mobilenet", "format": "tflite", "files": {"graph": location}}
    (folder / "mobilenet.json").write_text(json.dumps({"model": model, "tests": [test]}))
    cache = folder / "model_cache" / "tflite" / "mobilenet"
    cache.mkdir(parents=True)
    for place in (folder, cache):
        (place / "mobilenet.tflite").write_bytes(graph)
    program = folder / "benchmark_model"
    program.write_text("#!/bin/sh\necho 'count=50 first=5 curr=4 min=3 max=5 avg=4 std=0.1'\n")
    program.chmod(0o755)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    reader = Reader(tmp_path_factory.mktemp("reader"))
    (reader.folder / "specs").symlink_to(ROOT / "specs")
    (reader.folder / "net.py").write_text(NET)
    (reader.folder / "spec.json").write_text(SPEC)
    (reader.folder / "net.command.json").write_text(COMMAND)
    write_fai_pep_files(reader.folder)
    for name, fields in FAKES.items():
        (reader.folder / f"{name}.fake.json").write_text(FAKE % fields)
    (reader.folder / "times.csv").write_text(
        next(block.text for block in BLOCKS if block.language == "csv") + "\n"
    )
    (reader.folder / "robust.json").write_text(
        next(block.text for block in BLOCKS if '"crash.fake.json"' in block.text)
    )
    for line in (
        "assay aot net.py:make --recipe executorch/portable --out made",
        "assay aot net.py:make --recipe onnxruntime/fp32 --out made_onnx",
        "cp made_onnx/program.onnx kws.onnx",
        *(f"cp made/program.pte {name}.pte" for name in ("program", "old", "new", "other")),
        "assay run spec.json --report report.json",
        "cp home/assay.db assay.db",
    ):
        result = reader.type(line)
        assert result.returncode == 0, result.stderr
    return reader


DATABASE = "postgresql://lab@db.example/results"


@pytest.fixture(scope="module")
def database(postgres_server: PostgresServer) -> str:
    """The address of a database in place of the reader's."""
    return postgres_server.fresh_database()


def commands() -> list[object]:
    shown = [(block, command) for block in BLOCKS for command in block.commands()]
    first = {command: block for block, command in reversed(shown)}
    return [
        pytest.param(command, id=f"{block}: {command}")
        for block, command in shown
        if command not in NOT_TYPED
        and (first[command] is block or READS_RESULTS.match(command) is not None)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("command", commands())
def test_command_does_what_the_page_says(
    reader: Reader, command: str, request: pytest.FixtureRequest
) -> None:
    if command.startswith("jq") and shutil.which("jq") is None:
        pytest.skip("no jq here")
    line = typed(command)
    if line.endswith("page.html"):
        line = line.replace("page.html", str(reader.folder / "page.html"))
    if DATABASE in line:
        line = line.replace(DATABASE, request.getfixturevalue("database"))
    result = reader.type(line)
    codes = EXIT_CODES.get(command, 0)
    assert result.returncode in (codes if isinstance(codes, set) else {codes}), (
        result.stdout + result.stderr
    )


def test_no_exception_outlives_its_page() -> None:
    typed = {command for block in BLOCKS for command in block.commands()}
    assert {*NOT_TYPED, *TYPED_OTHERWISE, *EXIT_CODES} <= typed


def python_blocks() -> list[object]:
    return [
        pytest.param(block, id=str(block))
        for block in BLOCKS
        if block.language == "python" or block.text.startswith("import assay")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("block", python_blocks())
def test_python_runs(reader: Reader, block: Block) -> None:
    given = "import torch\nx = torch.randn(1, 3, 224, 224)\n"
    script = reader.folder / "block.py"
    script.write_text(given + block.text)
    environment = {**reader.env, "ASSAY_BIN_DIR": str(BIN)}
    result = run_script(script, cwd=reader.folder, environment=environment)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "block", [block for block in BLOCKS if '"assay/spec/1"' in block.text], ids=str
)
def test_spec_is_one(reader: Reader, block: Block) -> None:
    path = reader.folder / "shown.json"
    path.write_text(block.text)
    result = reader.type(f"assay run {path} --dry-run")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
def test_queries_of_the_store_answer(reader: Reader) -> None:
    queries = [block.text for block in BLOCKS if block.text.startswith("SELECT")]
    with sqlite3.connect(reader.folder / "home" / "assay.db") as store:
        answers = {query: store.execute(query).fetchall() for query in queries}
    times = next(rows for query, rows in answers.items() if "AS seconds" in query)
    assert times
    assert all(seconds > 0 for _, seconds in times)


def test_the_demo_stores_its_run_where_the_next_command_looks() -> None:
    planned = subprocess.run(
        ["make", "--no-print-directory", "-n", "demo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    (command,) = [line for line in planned.splitlines() if "specs/mobilenet.json" in line]
    assert re.match(r"\S*assay run ", command), "no variable chooses another store"
