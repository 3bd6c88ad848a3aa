"""Requests to the fork server that tests of several recipes share, and checks of its answers."""

import math

import torch

PORTABLE, FP32, INT8 = "executorch/portable", "executorch/xnnpack-fp32", "executorch/xnnpack-int8"
EVALUATION = {"generator": "normal", "seed": 1, "count": 3, "role": "evaluation"}


def build(server, model, recipe, folder, **more):
    """`model`: a reference, or all that a request says of one."""
    document = model if isinstance(model, dict) else {"ref": model, "weight_init": True}
    return server.run(job="build", model=document, recipe=recipe, out_dir=str(folder), **more)


def reference(server, ref, folder, **more):
    document = {"ref": ref, "weight_init": True}
    request = {"job": "reference", "model": document, "inputs": EVALUATION, **more}
    return server.run(**request, out_dir=str(folder))


def completed_results(done):
    """The results of done events by name; each of them has to be a completed job."""
    for event in done.values():
        assert event["outcome"] == "completed", event["text"]
    return {name: event["result"] for name, event in done.items()}


def assert_builds_repeat(server, model, recipes, results, folder):
    """Builds each recipe again and compares the digests of its files."""
    for name, recipe in recipes.items():
        again = build(server, model, recipe, folder / name)["result"]
        assert again["files"] == results[name]["files"]


def assert_calibrated(manifest):
    """Asserts that eight random batches calibrated, whose digest the manifest has."""
    calibration = dict(manifest["calibration"])
    assert len(calibration.pop("samples_sha256")) == 64
    assert calibration == {"generator": "normal", "seed": 1000, "batches": 8}


def sqnr_db(expected, actual):
    """SQNR of tensors or arrays; 300 dB where nothing differs."""
    expected, actual = torch.as_tensor(expected).double(), torch.as_tensor(actual).double()
    error = (expected - actual).square().sum()
    return 10 * math.log10(float(expected.square().sum() / error.clamp_min(1e-30)))
