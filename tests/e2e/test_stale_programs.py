"""Programs and references of a model that reads other files: none is stale after an edit."""

from pathlib import Path

import pytest
from driver import Finished, Workplace

SCRIPT = Path(__file__).parent / "reading_toolchain.py"


@pytest.fixture
def workplace(place: Workplace) -> Workplace:
    """A model that reads util.py, for the fake engine under ExecuTorch's name."""
    place.use_script_as_toolchain(SCRIPT)
    place.register_fake_as("executorch", "scripted", fmt="pte")
    (place.folder / "net.py").write_text("import util\n\ndef make(): ...\n")
    (place.folder / "util.py").write_text("1")
    return place


def evaluate(place: Workplace) -> Finished:
    return place.run(
        *("eval", place.folder / "net.py:make", "--recipe", "executorch/portable"),
        *("--engine", "executorch@scripted", "--against", "float32"),
    )


def test_an_edit_of_what_a_model_reads_gives_a_new_program_and_reference(
    workplace: Workplace,
) -> None:
    first = evaluate(workplace)
    assert first.code == 0, first
    again = evaluate(workplace)
    assert again.code == 0, again
    assert "changed" not in again.err
    (workplace.folder / "util.py").write_text("3")
    edited = evaluate(workplace)
    assert edited.code == 0, "a stale program differs from the new reference\n" + str(edited)
    assert f"'{workplace.folder / 'util.py'}' changed, so what the cache has" in edited.err, edited
    made = workplace.home.glob("cache/*/*/program.fake.json")
    assert len(list(made)) == 2


def test_a_factory_that_draws_anew_is_named_and_the_engine_is_not_blamed(
    workplace: Workplace,
) -> None:
    (workplace.folder / "util.py").write_text("drawn")
    finished = evaluate(workplace)
    assert finished.code == 6, finished
    assert "factory gives other weights at each call" in finished.err, finished
    assert "not checked: the model's factory gives other weights" in finished.out, finished
    assert "fail" not in finished.out, finished


def test_programs_of_several_recipes_have_folders_of_their_own(workplace: Workplace) -> None:
    recipes = ("executorch/portable", "executorch/xnnpack-fp32")
    made = workplace.run(
        *("aot", workplace.folder / "net.py:make", "--recipe", ",".join(recipes)),
        *("--out", workplace.folder / "out"),
    )
    assert made.code == 0, made
    for recipe in recipes:
        folder = workplace.folder / "out" / recipe.replace("/", "_")
        assert (folder / "program.fake.json").is_file(), made
        assert (folder / "manifest.json").is_file(), made
        assert str(folder) in made.out, made


@pytest.mark.parametrize(
    ("verb", "flags", "limit"),
    [("aot", (), "400ms"), ("eval", (), "400ms"), ("eval", ("--job-timeout", "200ms"), "200ms")],
)
def test_a_job_that_does_not_end_is_ended_by_its_limit(
    workplace: Workplace, verb: str, flags: tuple[str, ...], limit: str
) -> None:
    (workplace.folder / "util.py").write_text("hangs")
    workplace.env["ASSAY_BUILD_TIMEOUT"] = "400ms"
    finished = workplace.run(
        *(verb, workplace.folder / "net.py:make", "--recipe", "executorch/portable", *flags),
        timeout_s=30,
    )
    assert finished.code == 1, finished
    assert f"after {limit.removesuffix('ms')} ms" in finished.out + finished.err, finished
