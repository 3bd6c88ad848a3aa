"""What the tests of several recipes ask of the fork server, and how they look at its answers."""

import math

import torch

EVALUATION = {"generator": "normal", "seed": 1, "count": 3, "role": "evaluation"}


def build(server, ref, recipe, folder, **more):
    model = {"ref": ref, "healthy": True}
    return server.run(job="build", model=model, recipe=recipe, out_dir=str(folder), **more)


def reference(server, ref, folder, **more):
    request = {"job": "reference", "model": {"ref": ref, "healthy": True}, "inputs": EVALUATION}
    return server.run(**request, **more, out_dir=str(folder))


def sqnr_db(expected, actual):
    """Of tensors or arrays; 300 dB above the signal where nothing differs."""
    expected, actual = torch.as_tensor(expected).double(), torch.as_tensor(actual).double()
    error = (expected - actual).square().sum()
    return 10 * math.log10(float(expected.square().sum() / error.clamp_min(1e-30)))
