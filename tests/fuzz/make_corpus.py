"""Writes the seeds of the fuzz targets to tests/fuzz/corpus, a folder for each target.

Usage: python tests/fuzz/make_corpus.py

Inputs that once failed are next to the seeds as found-*; they stay as they are. A seed of a target
with several parsers begins with the letter of its parser (`kParsers` in the target's source).
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"

Seeds = dict[str, bytes]


def crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli), bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def frame(type_: int, body: dict[str, object], blob: bytes = b"") -> bytes:
    """One frame of the wire (src/assay/wire/frame.h)."""
    text = json.dumps(body).encode()
    head = struct.pack(
        "<IHHIIQI", 0x59415341, 1, type_, 7, len(text), len(blob), crc32c(text + blob)
    )
    return head + struct.pack("<I", crc32c(head)) + text + blob


def safetensors(tensors: dict[str, tuple[str, list[int], bytes]]) -> bytes:
    """A safetensors document."""
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        offsets = [len(data), len(data) + len(content)]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def npy(descr: str, shape: str, data: bytes) -> bytes:
    """A version 1 document of numpy."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def zstd_frame(content: bytes) -> bytes:
    """A frame of at most 255 bytes in one raw block (RFC 8878)."""
    block = struct.pack("<I", len(content) << 3 | 1)[:3]
    return b"\x28\xb5\x2f\xfd\x20" + bytes([len(content)]) + block + content


def field(number: int, content: bytes) -> bytes:
    """A field of protobuf that holds bytes; at most 127 of them."""
    return bytes([number << 3 | 2 if number < 16 else 0, len(content)]) + content


def onnx() -> bytes:
    """A model with an initializer in another file."""
    entry = field(1, b"location") + field(2, b"weights.bin")
    tensor = b"\x6a" + bytes([len(entry)]) + entry
    return field(7, field(5, tensor) + field(1, field(5, field(5, tensor))))


def text_seeds(letter: str, texts: list[str]) -> Seeds:
    """Seeds of one parser, numbered."""
    return {f"{letter}-{i:02}": (letter + text).encode() for i, text in enumerate(texts)}


def base_seeds() -> Seeds:
    """Durations, sizes, texts, words of a shell, JSON."""
    return (
        text_seeds("d", ["20s", "1.5ms", "250us", "10ns", "2min", "1h", "0", "1e300s", "-1s"])
        | text_seeds("b", ["500MB", "2GiB", "4096", "1kb", "0", "9223372036854775807GB"])
        | text_seeds(
            "t", ["plain", "a\x1b[31mred\x1b[0m", "tab\tline\r\nend ", "a\u202eb\u00e9\U0001f600"]
        )
        | {"t-utf8": b"t\xff\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80\x1b[\n12\n"}
        | text_seeds("s", ["plain", "two words", "it's", "$(x)"])
        | text_seeds(
            "j",
            [
                '{"a": [1, -2, 3.5e-7, true, null, "\\u00e9\\n"]} // end',
                '{"a": 1, "a": 2}',
                "18446744073709551615",
                "[-0.0, 1e308, 1e999]",
                "[" * 70,
            ],
        )
    )


def tensor_seeds() -> Seeds:
    """Safetensors and npy."""
    floats = struct.pack("<4f", 0, 1, -1, float("nan"))
    return {
        "safetensors": safetensors(
            {"0.0": ("F32", [1, 4], floats), "1.0": ("F32", [1, 4], floats)}
        ),
        "safetensors-small": safetensors(
            {"0.0": ("BF16", [2], b"\0\x3f\0\x40"), "0.1": ("BOOL", [], b"\1")}
        ),
        "safetensors-empty": safetensors({"x": ("I64", [0, 3], b"")}),
        "npy-float32": npy("<f4", "(1, 4)", floats),
        "npy-uint8": npy("|u1", "(3,)", b"abc"),
        "npy-scalar": npy("<i8", "()", b"\1" + b"\0" * 7),
        "npy-big-endian": npy(">f4", "(1,)", floats[:4]),
    }


def wire_seeds() -> Seeds:
    """Frames, and payloads behind the byte that says how much of them is JSON."""
    samples = struct.pack("<6q", 1, 2, 10, 11, 3, 4)
    measurement = {
        "first": {"bind_ns": 1, "execute_ns": 10, "fetch_ns": 3},
        "warmup_iterations": 1,
        "iterations": 1,
        "stopped_by": "count",
        "wall_ns": 100,
        "cpu_ns": 90,
        "clock_resolution_ns": 1,
    }
    load = {
        "stages": [{"name": "program", "ns": 5}],
        "inputs": [{"name": "x", "dtype": "float32", "shape": [1, 4]}],
        "outputs": [{"name": "y", "dtype": "float32", "shape": [1, 4]}],
        "declared_memory": [{"name": "arena", "bytes": 64}],
    }
    profile = {
        "iterations": 1,
        "events": [{"name": "conv", "count": 1, "total_ns": 5}],
        "spans": [[0, 0, 1, 5]],
    }
    hello = {"protocol_min": 1, "protocol_max": 1, "program": "p", "engine": "e", "version": "1"}
    hello |= {"heartbeat_ns": 5, "boot_id": "b", "home": "/h"}
    tree: dict[str, object] = {
        "digest": "ab",
        "files": [
            {"path": "run", "sha256": "ab", "is_executable": True},
            {"path": "lib/a.so.1", "sha256": "cd", "is_executable": False},
        ],
    }
    error: dict[str, object] = {
        "code": "engine",
        "stage": "load",
        "engine_code": "0x20",
        "message": "no",
    }
    output = safetensors({"0.0": ("F32", [1], b"\0\0\0\0")})
    bodies: dict[str, tuple[int, dict[str, object], bytes]] = {
        "hello": (1, hello, b""),
        "spawn": (5, {"runner": "/r", "argv": ["--x"], "limits": {"wall_ns": 5}}, b""),
        "put": (4, {"sha256": "ab", "offset": 4, "total_bytes": 6}, b"ef"),
        "environment": (7, {"id": "i", "cpus": 2, "cpu_flags": ["neon"], "details": {}}, b""),
        "tree": (8, tree, b""),
        "tree-reply": (8, {"path": "/t", "missing": ["ab"]}, b""),
        "lock": (9, {"holder": "ann"}, b""),
        "space": (10, {"free_bytes": 5, "blob_bytes": 3}, b""),
        "prune": (11, {"keep_bytes": 3, "removed_bytes": 2}, b""),
        "load": (16, load, b""),
        "infer": (17, {"samples": 1, "repeat": 2, "differing_elements": 0}, output),
        "measure": (18, measurement, samples),
        "profile": (19, profile, b""),
        "memory": (20, {"stages": [{"name": "start", "rss_bytes": 4096}]}, b""),
        "error": (34, error, b""),
    }
    seeds = {}
    for name, (type_, body, blob) in bodies.items():
        seeds[f"frame-{name}"] = frame(type_, body, blob)
        text = json.dumps(body).encode()
        # The smallest share of 255 that covers the text, which spaces fill up.
        payload = len(text) + len(blob)
        share = 255 if not blob else -(-len(text) * 255 // payload)
        missing = payload * share // 255 - len(text)
        if not blob or missing == 0:
            seeds[f"payload-{name}"] = bytes([share]) + text + blob
    seeds["frames"] = frame(1, hello) + frame(33, {"text": "log"}) + frame(35, {})
    return seeds


def store_seeds() -> Seeds:
    """Cells of a database."""
    return {
        "s-plain": b"s\x02" + struct.pack("<2q", 5, -5),
        "s-zstd": b"s\x02" + zstd_frame(bytes(range(16))),
        "z-zstd": b"z" + zstd_frame(b"some text"),
        "z-large": b"z\x28\xb5\x2f\xfd\xe0" + b"\xff" * 8,
        "p-samples": b"p" + struct.pack("<4q", 1000, 1001, 999, 1000),
    }


def record_seeds() -> Seeds:
    """Records as JSON, and the texts of a scenario."""
    case = {
        "model": {"ref": "torchvision:mobilenet_v2", "args": {}, "seed": 1},
        "recipe": {"name": "executorch/portable", "engine": "executorch", "produces": "pte"},
        "engine": "executorch",
        "options": {"threads": 1},
        "inputs": {"generator": "normal", "seed": 1, "count": 4},
    }
    documents: dict[str, object] = {
        "a": {"whole": {"total": 0.5}, "layers": [{"origin": {"name": "conv"}}], "notes": ["n"]},
        "A": {"key": "k", "files": [{"name": "a.pte", "bytes": 1, "sha256": "ab"}]},
        "c": case,
        "C": {"id": "1", "baseline": "a"},
        "e": {"id": "1", "cpus": 2, "details": {}},
        "f": {"results": [{"case_name": "aten.add/float32", "verdict": "pass"}]},
        "i": {"functions": [{"name": "f", "instructions": 5}]},
        "k": {"noise": [{"ratio": 1.5}]},
        "l": {"id": "1", "attempt": "2", "index": 0},
        "L": {"stages": [{"name": "program", "ns": 5}]},
        "m": {"iterations": 1, "first": {"bind_ns": 1}},
        "M": {"stages": [{"name": "start", "rss_bytes": 1, "parts": [{"name": "heap"}]}]},
        "p": {"iterations": 1, "spans": [[0, 0, 1, 5]]},
        "q": {"runner": "/r", "limits": {"wall_ns": 5}, "sandbox": {"mode": "off"}},
        "Q": {"outcome": "ok", "wall_ns": 5},
        "r": {"id": "1", "labels": {"a": "b"}, "argv": ["assay", "run"]},
        "s": {"gap_ns": 5, "streams": 2, "cores": "0,2-3"},
        "t": {"id": "1", "pass": "timing", "outcome": "crashed", "stage": "load"},
        "u": {"against": "float32", "outputs": [{"name": "y"}]},
    }
    seeds = {
        f"{letter}-json": (letter + json.dumps(one)).encode() for letter, one in documents.items()
    }
    return (
        seeds
        | text_seeds("o", ["0,2-3", "0", "3-1", "0-99999999", "own"])
        | text_seeds("b", ["cpu:2", "memory:1", "cpu:-1", "cpu"])
    )


def spec_seeds() -> Seeds:
    """Specs, whole."""
    whole = {
        "schema": "assay/spec/1",
        "name": "x",
        "models": [
            "torchvision:mobilenet_v2",
            {"ref": "a.py:f", "args": {"n": [1, 2]}, "inputs": [[1, 3, 8, 8]], "seed": 1},
            {"ref": "net.pte", "dimensions": {"batch": 1}},
        ],
        "recipes": [
            "executorch/portable",
            {"name": "own", "engine": "executorch", "lowering": {"flow": "x"}, "produces": "pte"},
        ],
        "engines": ["executorch"],
        "options": {"threads": [1, 2]},
        "scenario": {"gap": ["0ms", "5ms"], "streams": [1, 2]},
        "exclude": [{"recipe": "own", "threads": 2}],
        "measure": {"launches": 3, "time_budget": "10s", "passes": ["timing", "evaluate"]},
        "evaluate": {"against": ["float32"], "samples": 4},
        "require": {"sqnr_db": ">=30", "latency_ns": "<12ms"},
        "limits": {"memory": "1GB"},
    }
    small = {"schema": "assay/spec/1", "models": ["net.pte"], "recipes": ["program"]}
    return {
        "whole": json.dumps(whole).encode(),
        "small": json.dumps(small).encode(),
        "comments": b'// a comment\n{"schema": "assay/spec/1", /* no */ "models": []}',
    }


def reference_seeds() -> Seeds:
    """Bounds, references of models, recipe files, ONNX."""
    recipes = {
        "schema": "assay/recipes/1",
        "quantizations": {"int8": {"scheme": "x"}},
        "recipes": [
            {
                "name": "own/int8",
                "engine": "executorch",
                "quantization": "int8",
                "lowering": {"flow": "x"},
                "produces": "pte",
                "description": "d",
            }
        ],
    }
    return (
        text_seeds("b", [">=0.99", "<=12ms", "<14MB", "== 1", ">1e999", "<nan", "5"])
        | text_seeds(
            "m",
            [
                "torchvision:mobilenet_v2",
                "a/net.py:make",
                "net.pte",
                "net.toy.json",
                "c:\\net.pt2",
                ":",
            ],
        )
        | {"r-recipes": b"r" + json.dumps(recipes).encode(), "o-onnx": b"o" + onnx()}
    )


def engine_seeds() -> Seeds:
    """Descriptions with options, and a registry."""
    options = [
        {
            "name": "threads",
            "type": "int",
            "minimum": 1,
            "maximum": 64,
            "default": 1,
            "scope": "load",
        },
        {"name": "mode", "type": "string", "values": ["a", "b"], "default": "a"},
    ]
    described = {
        "description": {"name": "toy", "version": "1", "formats": ["toy"], "options": options},
        "options": {"threads": 2, "mode": "b"},
    }
    registry = {"builds": [{"name": "toy", "label": "mine", "runner": "/r"}, {"name": 5}, 5]}
    return {
        "d-description": b"d" + json.dumps(described).encode(),
        "r-registry": b"r" + json.dumps(registry).encode(),
        "r-list": b'r{"builds": {"a": {"name": "toy", "runner": "/r"}}}',
    }


def command_seeds() -> Seeds:
    """Documents of commands with what they print."""
    tensor = {"name": "x", "dtype": "float32", "shape": [1, 4]}
    document = {
        "argv": ["./bench", "--in={input:0}", "{outputs}", "-n", "{iterations}", "{threads}"],
        "inputs": [tensor],
        "outputs": [tensor],
        "file_format": "npy",
        "time_pattern": "took: ([0-9.eE+-]+) ms",
        "time_unit": "ms",
        "timeout_s": 60,
    }
    other = document | {"time_pattern": "(a|[0-9]+)|(b)", "time_unit": "s", "file_format": "raw"}
    printed = b"\0took: 1.25 ms\nnoise\ntook: 0.5 ms\n"
    profiled = {
        "argv": ["{build:bench}", "{build}", "{{ {warmup}"],
        "env": {"OMP_NUM_THREADS": "1"},
        "metrics": {
            "p99": {"pattern": "p99 ([0-9.]+) us", "unit": "us", "take": "last", "per": "launch"},
            "rate": {"pattern": "([0-9.]+) tok/s", "unit": "1/s", "better": "higher"},
        },
        "operator_pattern": "op (?<name>[a-z]+) (?<time>[0-9.]+) ms",
        "operator_unit": "ms",
        "reads": "both",
    }
    observed = {
        "steps": [["{place:graph}", "{scratch:host}/x"]],
        "places": {"graph": {"md5": "ab"}},
        "observer": "PyTorchObserver",
        "read_files": ["{scratch:host}/x"],
        "pause_s": 1,
        "about": {"name": "net"},
    }
    records = [
        {"type": "NET", "metric": "latency", "unit": "ms", "value": "1.5"},
        {"type": "conv", "metric": "latency", "unit": "us", "num_runs": 3, "summary": {"p50": 2}},
        {"type": "NET", "metric": "flops", "unit": "FLOP", "value": 5},
        {"type": "NET", "metric": "device", "info_string": "cpu"},
        {"prompt_tokens": 4, "inference_start_ms": 1, "prompt_eval_end_ms": 3},
    ]
    lines = "".join(f"PyTorchObserver {json.dumps(record)}\n" for record in records)
    return {
        "profiled": json.dumps(profiled).encode()
        + b"\0p99 2.5 us\np99 2 us\n9 tok/s\nop conv 2.5 ms\nop conv 3 ms\n",
        "observed": json.dumps(observed).encode() + b"\0" + lines.encode(),
        "npy": json.dumps(document).encode() + printed,
        "raw": json.dumps(other).encode() + b"\0" + b"1\n2\n",
        "large": json.dumps(document).encode()
        + b"\0took: 1e300 ms\ntook: 99999999999999999999 ms\n",
    }


def fai_pep_seeds() -> Seeds:
    """Model files and a sequence of FAI-PEP's format."""
    model = {
        "model": {
            "name": "net",
            "format": "caffe2",
            "repeat": 2,
            "batch": "{size}/{repeat}",
            "size": 4,
            "files": {"predict": {"filename": "p.pb", "location": "//p.pb", "md5": "ab"}},
            "preprocess": {"commands": ["mkdir -p {HOSTDIR}/in"]},
        },
        "tests": [
            {
                "identifier": "net-{ID}",
                "metric": "accuracy",
                "iter": 5,
                "warmup": 1,
                "platform_args": {"taskset": "f0"},
                "commands": ["{program} --net {files.predict} --iter {iter} 'a b' {batch} {INDEX}"],
            },
            {
                "identifier": "{ID}",
                "metric": "delay",
                "inputs": {"data": {"shapes": [[1, 3], [2, 3]], "type": "float"}},
            },
        ],
    }
    cycle = {
        "model": {"name": "n", "format": "generic", "a": "{b}", "b": "{a}"},
        "tests": [{"identifier": "x", "metric": "delay", "command": "{program} {a}"}],
    }
    sequence = {"meta": {"group": "g"}, "benchmarks": ["a.json"]}
    return {
        "model": json.dumps(model).encode(),
        "cycle": json.dumps(cycle).encode(),
        "sequence": json.dumps(sequence).encode(),
    }


def callgrind_seeds() -> Seeds:
    """A file of callgrind."""
    text = """# callgrind format
creator: callgrind-3.19.0
positions: line
events: Ir

ob=(1) /usr/bin/runner
fn=(1) main
10 100
+2 5
cfn=(2) work(int)
calls=3 20
* 3000

fn=(2)
20 2000

fn=(3) 0x10
-1 100

summary: 3105
totals: 3105
"""
    most = "events: Ir\nfn=(1) f\n1 9223372036854775807\n1 9223372036854775807\nsummary: 5\n"
    return {"callgrind": text.encode(), "most": most.encode()}


def conform_seeds() -> Seeds:
    """Known gaps, listings of cases, patterns."""
    gaps = {
        "schema": "assay/known_gaps/1",
        "recipe": "executorch/xnnpack-fp32",
        "unsupported": [{"match": {"operator": "aten.x*", "dtype": "float16"}, "reason": "r"}],
        "undelegated": [{"match": {"case": "a/*"}, "reason": "r", "processor": "avx512f"}],
        "expected_failures": [
            {"case": "a/b", "verdict": "fail_numeric", "reason": "r", "issue": "i"}
        ],
        "relaxed_bounds": [{"match": {"values": "nan"}, "error_bound_ratio": 2.5, "reason": "r"}],
    }
    case = {
        "name": "aten.add/float32",
        "model": {"ref": "call", "args": {"call": {}}},
        "operator": "aten.add.Tensor",
        "dtype": "float32",
        "cost": 1.5,
    }
    listing = {"cases": [case, case | {"name": "b", "model": "x"}], "coverage": []}
    return {
        "g-gaps": b"g" + json.dumps(gaps).encode(),
        "l-listing": b"l" + json.dumps(listing).encode(),
    } | text_seeds("p", ["a*b?c\naxxbyc", "*\n", "**a\nba", "aten.add.*\naten.add.Tensor", "?\n"])


def escaping_seeds() -> Seeds:
    """Texts that are markup, formulas or control sequences somewhere."""
    texts = [
        "plain",
        "=1+1",
        'say "a, b"\r\nand more',
        "<b>&amp;</script><!--",
        "| a | `b` | @user |",
        "\x1b[31mred\x1b[0m\x07",
        "\u4e2d\u6587\U0001f600 wide",
        "\u202ereversed",
    ]
    return {
        name: content for letter in "cxmjh" for name, content in text_seeds(letter, texts).items()
    } | {f"w-{i:02}": b"w" + bytes([i * 5]) + text.encode() for i, text in enumerate(texts)}


def reduce_seeds() -> Seeds:
    """Replay files and checks."""
    finding = {"verdict": "fail_numeric", "stage": "execute", "time_ratio": 1.5}
    replay = (
        '{"schema":"assay/reduce_replay/1","subject":"subject"}\n'
        + json.dumps({"candidate": "ab", "finding": finding})
        + "\n{"
    )
    return {
        "r-replay": b"r" + replay.encode(),
    } | text_seeds("k", ["numeric", "slower-than=a/b:1.5", "slower-than=a:nan", "0x1f 'x' /a/b 12"])


def flag_seeds() -> Seeds:
    """Flags, one a line."""
    return {
        "all": b"mnet.pte\nothreads=1,2\nsgap=0ms,5ms\nscores=0,2-3\nt1\ni1,3,8,8:int8\n"
        b'rsqnr_db>=30\na{"n": 1}\ngfloat32\ndbatch=1,8\nw10\nn50\nb20s\nv1%',
        "shape": b"i1,3,224,224\ni2,5:int64\n",
        "wrong": b"i1,x\nod\no=1\nd=\nvabc\n",
    }


def manifest_seeds() -> Seeds:
    """Manifests of artifacts and of references."""
    manifest = {
        "schema": "assay/manifest/1",
        "entry": "program.pte",
        "files": [{"name": "program.pte", "role": "program", "bytes": 7, "sha256": "ab"}],
        "stages": [{"name": "export", "wall_ns": 5}],
        "program": {
            "nodes_delegated": 1,
            "nodes_not_delegated": 2,
            "delegates": [{"id": "x", "count": 1, "processed_bytes": 3}],
            "operators_left": [{"name": "aten.add", "count": 2, "reason": None}],
            "methods": [{"name": "forward", "planned_arena_bytes": [64]}],
            "parts": [{"outputs": [0, 2], "delegation": {"nodes_delegated": 1}}],
        },
        "delegation": "partial",
    }
    reference = {
        "schema": "assay/reference/1",
        "kind": "float32",
        "samples": 4,
        "files": [{"name": "expected.safetensors", "sha256": "ab", "bytes": 5}],
    }
    return {
        "manifest": json.dumps(manifest).encode(),
        "reference": json.dumps(reference).encode(),
    }


def repository_seeds() -> Seeds:
    """Repository files, whole and wrong."""
    environment = {
        "build": [["cmake", "-S", "{source}", "-B", "{work}"]],
        "outputs": {"bench": "bin/bench"},
        "runner": "command",
        "env": {"CXX": "c++"},
        "timeout": "10min",
        "reuse": False,
        "network": True,
    }
    whole = {
        "schema": "assay/repository/1",
        "repository": {"url": "..", "kind": "hg", "branch": "default", "first_parent": True},
        "paths": {"include": ["src"], "exclude": ["*.md"]},
        "engine": "toy",
        "environments": {"default": environment, "avx2": {"outputs": {"bench": "b"}}},
        "spec": "spec.json",
        "policy": {
            **{"reference": "pinned:v1", "step": 2, "poll": "1min", "horizon": 9, "rounds": 3},
            **{"min_effect": {"steady_ns": "2%"}, "verify": True, "bisect": False},
            **{"share_of_verification": 0.5, "keep_builds": "1GB"},
            **{"broken_commits": 3, "silent_commits": 20, "silent_time": "14d"},
        },
        "notify": [
            {"argv": ["mail"], "on": ["confirmed"]},
            {"url": "https://example.org/hook", "token_file": "token"},
        ],
        "labels": {"team": "x"},
    }
    wrong = whole | {"engine": "to/y", "environments": {"": {"outputs": {"a": "../b"}}}}
    return {"whole": json.dumps(whole).encode(), "wrong": json.dumps(wrong).encode()}


def history_seeds() -> Seeds:
    """CSV files of series: a step, quotes, dates, intervals, two machines, what is wrong."""
    head = "commit,time,value,series,metric,unit,environment,low,high\n"
    step = "".join(f"c{i},{i},{100 + i % 3 + 20 * (i > 15)}\n" for i in range(32))
    texts = {
        "step": "commit,time,value\n" + step,
        "equal": "commit,value\n" + "".join(f"c{i},5\n" for i in range(24)),
        "all": head + 'a,2026-01-31,1e300,"x, ""y""",steady_ns,ns,desk,1,1e301\n'
        "b,2026-01-31T09:05:00.5+02:00,4e-300,,,,rack,,\r\n\r\na,1769860800,3,,,,desk,3,3\n",
        "machines": "value,environment,commit\n1,x,a\n2,y,a\n1,x,b\n2,y,b\n",
        "quote": 'commit,value\n"a\nb",1\n"c,2\n',
        "wrong": "commit,valeu\na,-1\n",
    }
    return {name: text.encode() for name, text in texts.items()}


TARGETS = {
    "assay_base_fuzz": base_seeds,
    "assay_callgrind_fuzz": callgrind_seeds,
    "assay_conform_fuzz": conform_seeds,
    "assay_engine_fuzz": engine_seeds,
    "assay_engines_command_fuzz": command_seeds,
    "assay_escaping_fuzz": escaping_seeds,
    "assay_fai_pep_fuzz": fai_pep_seeds,
    "assay_flags_fuzz": flag_seeds,
    "assay_history_fuzz": history_seeds,
    "assay_manifest_fuzz": manifest_seeds,
    "assay_record_fuzz": record_seeds,
    "assay_reduce_fuzz": reduce_seeds,
    "assay_references_fuzz": reference_seeds,
    "assay_repository_fuzz": repository_seeds,
    "assay_spec_fuzz": spec_seeds,
    "assay_store_fuzz": store_seeds,
    "assay_tensor_fuzz": tensor_seeds,
    "assay_wire_fuzz": wire_seeds,
}


def main() -> None:
    """Writes every seed, and removes those that are no longer made."""
    for target, make_seeds in TARGETS.items():
        folder = CORPUS / target
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            if not old.name.startswith("found-"):
                old.unlink()
        for name, content in make_seeds().items():
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
