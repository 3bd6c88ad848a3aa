"""Requests that the tests of several recipes make of the fork server."""

EVALUATION = {"generator": "normal", "seed": 1, "count": 3, "role": "evaluation"}


def build(server, ref, recipe, folder, **more):
    model = {"ref": ref, "healthy": True}
    return server.run(job="build", model=model, recipe=recipe, out_dir=str(folder), **more)


def reference(server, ref, folder, **more):
    request = {"job": "reference", "model": {"ref": ref, "healthy": True}, "inputs": EVALUATION}
    return server.run(**request, **more, out_dir=str(folder))
