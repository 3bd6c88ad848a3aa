"""Parts of networks as models: what they compute is what the network computes there."""

import itertools
from typing import Any

import pytest
import torch

from assay.reduction import subgraph
from assay.reduction.subgraph import list_nodes
from assay.toolchain.errors import RequestError
from assay.toolchain.models.inputs import generate_sample
from assay.toolchain.server.model_families import FAMILIES, load
from assay.toolchain.types import InputSet

NETWORKS = ("conform:diamond", "conform:conv_called_twice", "conform:tied_weights")


def make_piece(args):
    return subgraph.make_subgraph(args, FAMILIES)


def names_of(ref: str) -> list[str]:
    return [node["name"] for node in list_nodes({"ref": ref}, FAMILIES)["nodes"]]


def piece(ref: str, nodes: list[str]) -> dict[str, Any]:
    return {"model": {"ref": ref}, "nodes": nodes}


@pytest.mark.parametrize("ref", NETWORKS)
def test_all_nodes_compute_what_the_network_does(ref: str) -> None:
    model = load(ref)
    whole = make_piece(piece(ref, names_of(ref)))
    assert model.sampled is not None
    sample = model.sampled.make_sample(7, 2)
    assert all(map(torch.equal, whole.make_sample(7, 2), sample))
    with torch.no_grad():
        expected = torch.utils._pytree.tree_leaves(model.module(*sample))
        found = whole.module(*sample)
    assert all(any(torch.equal(one, other) for other in found) for one in expected)


@pytest.mark.parametrize("ref", NETWORKS)
def test_two_halves_one_after_the_other_are_the_whole(ref: str) -> None:
    names = names_of(ref)
    whole, whole_sample = make_piece(piece(ref, names)), None
    for cut in range(1, len(names)):
        first, second = make_piece(piece(ref, names[:cut])), make_piece(piece(ref, names[cut:]))
        given = first.make_sample(3, 0)
        with torch.no_grad():
            middle = first.module(*given)
            result = second.module(*second.make_sample(3, 0))
            whole_sample = whole.module(*whole.make_sample(3, 0))
        # The second half is fed the outputs of the first.
        fed = [t for t in second.make_sample(3, 0) if t.dtype.is_floating_point]
        assert all(any(torch.equal(t, m) for m in (*middle, *given)) for t in fed)
        assert torch.equal(result[-1], whole_sample[-1])


@pytest.mark.slow
def test_any_subset_can_be_made() -> None:
    names = names_of("conform:diamond")
    for count in (1, 2):
        for nodes in itertools.combinations(names, count):
            made = make_piece(piece("conform:diamond", list(nodes)))
            with torch.no_grad():
                outputs = made.module(*made.make_sample(0, 0))
            assert 1 <= len(outputs) <= count


def test_samples_differ_by_number_and_by_seed() -> None:
    made = make_piece(piece("conform:conv_called_twice", ["conv2d_1"]))
    assert not torch.equal(made.make_sample(1, 0)[0], made.make_sample(1, 1)[0])
    assert not torch.equal(made.make_sample(1, 0)[0], made.make_sample(2, 0)[0])
    assert torch.equal(made.make_sample(1, 0)[0], made.make_sample(1, 0)[0])


def test_a_shared_weight_stays_one() -> None:
    made = make_piece(piece("conform:conv_called_twice", ["conv2d", "conv2d_1"]))
    assert len(list(made.module.parameters())) == 2
    assert len(made.make_sample(0, 0)) == 2


def test_a_single_node_is_the_call_that_it_stands_for() -> None:
    nodes = list_nodes({"ref": "conform:conv_called_twice"}, FAMILIES)["nodes"]
    call = nodes[0]["call"]
    made = load(call)
    assert call["ref"] == "aten:conv2d.default"
    assert [list(spec.shape) for spec in made.inputs] == [[1, 4, 8, 8]]
    assert made.parameters == 0
    assert len(list(made.module.buffers())) == 2


def test_an_unknown_node_is_named_with_its_neighbours() -> None:
    with pytest.raises(RequestError, match="did you mean conv2d"):
        make_piece(piece("conform:diamond", ["conv2b"]))
    with pytest.raises(RequestError, match="nothing comes out"):
        make_piece(piece("conform:diamond", []))


def test_torchvision_networks_can_be_cut_too() -> None:
    ref = "torchvision:squeezenet1_1"
    model = {"ref": ref, "inputs": [{"shape": [1, 3, 32, 32], "dtype": "float32"}]}
    names = [node["name"] for node in list_nodes(model, FAMILIES)["nodes"]]
    made = make_piece({"model": model, "nodes": names[4:9]})
    with torch.no_grad():
        sample = generate_sample(InputSet("normal", 5), load(model).inputs, 0)
        assert made.module(*made.make_sample(5, 0))
    assert sample[0].shape == (1, 3, 32, 32)


def test_a_piece_takes_what_the_network_makes_of_a_file(tmp_path):
    from safetensors.torch import save_file

    file = tmp_path / "inputs.safetensors"
    given = [torch.full((2, 3), value) for value in (1.0, -2.0, 60000.0)]
    save_file({f"{number}.0": tensor for number, tensor in enumerate(given)}, file)
    factory = tmp_path / "net.py"
    factory.write_text(
        "import torch\n"
        "class Net(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        return torch.relu(x * 2)\n"
        "def make():\n"
        "    return Net(), (torch.ones(2, 3),)\n"
    )
    model = {"ref": f"{factory}:make"}
    last = list_nodes(model, FAMILIES)["nodes"][-1]["name"]
    args = {"model": model, "nodes": [last], "inputs": {"file": str(file), "sha256": ""}}
    cut = make_piece(args)
    fed = [cut.make_sample(1, number)[0].flatten()[0].item() for number in range(3)]
    assert fed == [2.0, -4.0, 120000.0]
    assert cut.make_sample(1000, 2)[0].abs().max() < 100, "what calibrates is drawn"
