import json
import shutil
import subprocess
import sys

import pytest

from assay.toolchain import identity


def test_describes_versions_and_never_imports_torch():
    code = (
        "import sys; from assay.toolchain import identity; identity.describe(); "
        "sys.exit(int('torch' in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_prints_one_json_document():
    argv = [sys.executable, "-m", "assay.toolchain.identity"]
    document = json.loads(subprocess.run(argv, capture_output=True, text=True).stdout)
    reads = document.pop("reads")  # The module path of this process is another one.
    assert document == {k: v for k, v in identity.describe().items() if k != "reads"}
    assert {sys.prefix, sys.base_prefix, json.__file__.rpartition("/json/")[0]} <= set(reads)
    assert document["schema"] == "assay/toolchain/1"
    assert document["packages"]["assay_aot"] == identity.AOT_VERSION


def test_id_follows_versions_and_not_the_place(monkeypatch):
    before = identity.describe()
    monkeypatch.setattr(sys, "executable", "/elsewhere/python")
    assert identity.describe()["id"] == before["id"]
    monkeypatch.setattr(identity, "AOT_VERSION", "next")
    assert identity.describe()["id"] != before["id"]


def test_reads_the_folders_of_plug_ins(monkeypatch, tmp_path):
    plugin = tmp_path / "plug" / "in.py"
    plugin.parent.mkdir()
    plugin.write_text("")
    monkeypatch.setenv("ASSAY_PLUGINS", str(plugin))
    assert str(plugin.parent) in identity.describe()["reads"]


def test_missing_packages_are_null(monkeypatch):
    monkeypatch.setattr(identity, "PACKAGES", ("no-such-package",))
    assert identity.describe()["packages"]["no-such-package"] is None


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """A plug-in of a file, a folder that it names, and a folder that it does not."""
    for name in ("own/part.py", "tests/other.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("value = 1\n")
    (tmp_path / "plugin.py").write_text('raise RuntimeError("imported")\nsources = ["own"]\n')
    monkeypatch.setenv("ASSAY_PLUGINS", str(tmp_path / "plugin.py"))
    return tmp_path


@pytest.mark.parametrize("changed", ["plugin.py", "own/part.py"])
def test_the_id_follows_the_sources_of_plug_ins_without_importing_any(plugin, changed):
    before = identity.describe()
    assert identity.describe() == before
    with (plugin / changed).open("a") as file:
        file.write("# changed\n")
    assert identity.describe()["id"] != before["id"]


def test_the_id_does_not_follow_what_is_no_part_of_a_plug_in(plugin, monkeypatch):
    before = identity.describe()
    (plugin / "tests/other.py").write_text("value = 2\n")
    assert identity.describe()["id"] == before["id"]
    elsewhere = plugin / "elsewhere"
    shutil.copytree(plugin / "own", elsewhere / "own")
    shutil.copy(plugin / "plugin.py", elsewhere)
    monkeypatch.setenv("ASSAY_PLUGINS", str(elsewhere / "plugin.py"))
    assert identity.describe()["id"] == before["id"]


@pytest.mark.parametrize("text", ["sources = [", "sources = [made()]\n", "sources = [3]\n", None])
def test_a_plug_in_that_cannot_be_read_still_has_a_digest(plugin, monkeypatch, text):
    before = identity.describe()["id"]
    if text is None:
        (plugin / "plugin.py").unlink()
    else:
        (plugin / "plugin.py").write_text(text)
    assert identity.describe()["id"] != before
    monkeypatch.delenv("ASSAY_PLUGINS")
    assert "plugins" not in identity.describe()


@pytest.mark.parametrize("head", ["sources: list[str] =", "sources ="])
def test_sources_may_be_annotated(plugin, head):
    (plugin / "plugin.py").write_text(f'{head} ["own"]\n')
    before = identity.describe()["id"]
    (plugin / "own/part.py").write_text("value = 2\n")
    assert identity.describe()["id"] != before


def test_sources_that_are_no_list_are_refused_where_the_plug_in_loads(plugin):
    (plugin / "plugin.py").write_text("sources = None\n")
    assert identity.describe()["plugins"]
    from assay.toolchain.errors import RequestError
    from assay.toolchain.models.plugins import check_sources

    with pytest.raises(RequestError, match="literal list"):
        check_sources(None)


@pytest.mark.parametrize("variable", ["ASSAY_CONFORM_MODELS", "ASSAY_PLUGINS"])
def test_what_is_called_like_a_python_file_may_be_none(plugin, monkeypatch, variable):
    monkeypatch.setenv("ASSAY_CONFORM_MODELS", str(plugin / "own"))
    before = identity.describe()["id"]
    (plugin / "own/folder.py").mkdir()
    (plugin / "own/dangling.py").symlink_to("nowhere")
    if variable == "ASSAY_PLUGINS":
        monkeypatch.delenv("ASSAY_CONFORM_MODELS")
        assert identity.describe()["plugins"]
    else:
        assert identity.describe()["id"] == before


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package of one module; returns how it was installed, to be written."""
    (tmp_path / "made_here").mkdir()
    (tmp_path / "made_here" / "__init__.py").write_text("value = 1\n")
    folder = tmp_path / "made_here-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Name: made-here\nVersion: 1.0\n")
    (folder / "RECORD").write_text("made_here/__init__.py,sha256=one,10\n../bin/x,sha256=x,1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(identity, "PACKAGES", ("made-here",))
    return folder


def test_a_package_of_an_index_is_known_by_its_version(package):
    assert "rebuilt" not in identity.describe()


def test_the_id_follows_a_package_that_was_built_anew_with_the_same_version(package):
    (package / "direct_url.json").write_text('{"url": "file:///made_here-1.0.whl"}')
    before = identity.describe()["id"]
    (package / "RECORD").write_text("made_here/__init__.py,sha256=one,10\n../bin/x,sha256=y,1\n")
    assert identity.describe()["id"] == before, "a script has the path of its interpreter"
    (package / "RECORD").write_text("made_here/__init__.py,sha256=two,10\n")
    assert identity.describe()["id"] != before


def test_the_id_follows_an_edit_of_an_editable_package(package):
    (package / "direct_url.json").write_text(
        '{"url": "file:///made_here", "dir_info": {"editable": true}}'
    )
    before = identity.describe()["id"]
    assert identity.describe()["id"] == before
    (package.parent / "made_here" / "__init__.py").write_text("value = 22\n")
    assert identity.describe()["id"] != before


def test_the_compiler_belongs_to_programs_of_machine_code_only(monkeypatch):
    before = identity.describe()
    monkeypatch.setenv("CXX", "python3")
    after = identity.describe()
    assert after["id"] == before["id"]
    assert after["compiles_for"] != before["compiles_for"]


def test_the_id_follows_the_kernels_that_draw_weights(monkeypatch):
    def described(flags):
        monkeypatch.setattr(identity, "_features", lambda: flags)
        return identity.describe()

    monkeypatch.delenv("ATEN_CPU_CAPABILITY", raising=False)
    plain, avx2 = described("flags : sse4_2"), described("flags : fma sse4_2 avx2")
    assert avx2["id"] == described("flags : avx512f avx2 fma")["id"] != plain["id"]
    assert avx2["draws"].endswith(" avx2")
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "default")
    assert described("flags : avx2 fma")["id"] == plain["id"]


def test_an_edit_of_a_folder_of_models_makes_another_toolchain(tmp_path, monkeypatch):
    from assay.toolchain import identity
    from assay.toolchain.model_folders import FOLDERS

    plain = identity.describe()["id"]
    file = tmp_path / "mine" / "net.py"
    file.parent.mkdir()
    file.write_text("a = 1\n")
    monkeypatch.setenv(FOLDERS, str(file.parent))
    first = identity.describe()["id"]
    assert first not in (plain, "")
    assert identity.describe()["id"] == first
    file.write_text("a = 2\n")
    assert identity.describe()["id"] != first
