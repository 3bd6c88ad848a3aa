import pytest
import torch

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("one_thread")]


def load(ref, **options):
    from assay.toolchain import compat
    from assay.toolchain.models.loader import load_model
    from assay.toolchain.types import ModelSpec

    compat.prepare_torchvision()
    return load_model(ModelSpec(ref, **options))


@pytest.mark.parametrize(
    "name", ["mobilenet_v2", "mobilenet_v3_small", "vit_b_16", "alexnet", "squeezenet1_1"]
)
def test_random_nets_answer_and_listen(name):
    raw = load(f"torchvision:{name}", weight_init=False).health
    initialized = load(f"torchvision:{name}").health
    assert not raw["is_healthy"]
    assert raw["steps"] == []
    assert initialized["is_healthy"], initialized["reason"]
    assert 0.03 < initialized["output_rms"] < 10
    assert initialized["difference_rms"] > 0.1 * initialized["output_rms"]
    assert initialized["steps"]


def test_healing_is_deterministic():
    first, second = (load("torchvision:mobilenet_v3_small", seed=3) for _ in range(2))
    assert first.weights_sha256 == second.weights_sha256
    assert first.health == second.health


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))

    def forward(self, x):
        return self.layers(x)


def test_the_digest_of_weights_is_that_before_their_initialization(tmp_path, monkeypatch):
    """An initialization from data has other last bits on another processor."""
    from assay.toolchain.models import loader

    monkeypatch.setattr(loader, "_make", lambda *_: (Small(), (torch.ones(1, 4),)))
    raw, initialized = (load("small", weight_init=asked) for asked in (False, True))
    assert initialized.health["steps"]
    assert loader.weights_sha256(initialized.module) != loader.weights_sha256(raw.module)
    assert initialized.weights_sha256 == raw.weights_sha256


def test_modules_are_left_in_evaluation_mode():
    model = load("torchvision:mobilenet_v2")
    assert not any(module.training for module in model.module.modules())
    momenta = {m.momentum for m in model.module.modules() if hasattr(m, "momentum")}
    assert None not in momenta


def test_a_dead_net_is_reported(factory):
    health = load(factory("dead"), weight_init=True).health
    assert not health["is_healthy"]
    assert "rms 0" in health["reason"]


def test_users_models_are_measured_and_left_alone(factory):
    health = load(factory("small")).health
    assert (health["asked"], health["steps"]) == (False, [])
    assert health["output_rms"] > 0


def test_zero_gammas_and_tiny_scales_are_redrawn_and_biases_are_not():
    import torch

    from assay.toolchain.models.weight_init import redraw_zero_factors

    module = torch.nn.ModuleDict({"norm": torch.nn.LayerNorm(4), "linear": torch.nn.Linear(4, 4)})
    module.register_parameter("gamma", torch.nn.Parameter(torch.full((4, 1, 1), 1e-6)))
    torch.nn.init.zeros_(module["norm"].weight)
    torch.nn.init.zeros_(module["linear"].weight)
    torch.nn.init.zeros_(module["linear"].bias)
    step = redraw_zero_factors(module, seed=0)
    assert sorted(step["parameters"]) == ["gamma", "linear.weight", "norm.weight"]
    assert module["linear"].bias.abs().max() == 0
    assert 0.5 <= module.gamma.min() <= module.gamma.max() <= 1.5
    assert redraw_zero_factors(module, seed=0) is None


def test_outputs_that_are_not_finite_are_unhealthy():
    import torch

    from assay.toolchain.models.weight_init import measure_outputs
    from assay.toolchain.types import InputSpec

    class Nan(torch.nn.Module):
        def forward(self, x):
            return x / 0.0 - x / 0.0

    found = measure_outputs(Nan(), [InputSpec((2, 2))], seed=0)
    assert (found["is_healthy"], found["output_rms"]) == (False, None)
    assert found["reason"] == "the outputs are not finite"
