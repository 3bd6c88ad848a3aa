"""Writes the bill of materials of the wheel: CycloneDX 1.5, JSON.

    python tools/make_sbom.py build/sbom/assay.cdx.json

It lists what the wheel contains (tools/third_party/components.json, with the versions installed
on the machine that builds) and what pip installs with it (pyproject.toml). It has no date and no
serial number, so that the same sources and packages make the same file.
"""

import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import tomllib
from third_party_notices import ROOT, Component, read_components

DEBIAN_RELEASE = Path("/etc/os-release")


def debian_version(package: str) -> str:
    """Asks dpkg for the version of an installed package; "" where there is no dpkg or package."""
    try:
        asked = subprocess.run(
            ["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True
        )
    except FileNotFoundError:
        return ""
    return asked.stdout.strip() if asked.returncode == 0 else ""


def installed_version(distribution: str) -> str:
    """Finds the version of an installed Python distribution; "" if it is not installed."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def distribution_id() -> str:
    """The ID of the running distribution, as package URLs name it: debian, ubuntu."""
    text = DEBIAN_RELEASE.read_text(encoding="utf-8") if DEBIAN_RELEASE.exists() else ""
    found = re.search(r"^ID=\"?(\w+)", text, re.MULTILINE)
    return found.group(1) if found else "debian"


def version_and_purl(one: Component) -> tuple[str, str]:
    """Finds the version of a bundled component, and its package URL ("" if it has none)."""
    if package := one.get("debian_package"):
        version = debian_version(package)
        return version, f"pkg:deb/{distribution_id()}/{package}@{quote(version)}" if version else ""
    if distribution := one.get("python_package"):
        version = installed_version(distribution)
        return version, f"pkg:pypi/{distribution}@{version}" if version else ""
    version = one.get("version", "")
    return version, f"pkg:npm/{one['name']}@{version}" if version else ""


def licences_of(expression: str) -> list[dict[str, Any]]:
    """A licence as CycloneDX writes it: an SPDX identifier, or an expression of several."""
    if " " in expression:
        return [{"expression": expression}]
    return [{"license": {"id": expression}}]


def bundled_component(one: Component) -> dict[str, Any]:
    """Describes what the wheel contains."""
    version, purl = version_and_purl(one)
    return {
        "type": "library",
        "bom-ref": f"bundled:{one['name']}",
        "name": one["name"],
        **({"version": version} if version else {}),
        "licenses": licences_of(one["licence"]),
        **({"copyright": "; ".join(one["copyright"])} if one["copyright"] else {}),
        **({"purl": purl} if purl else {}),
        "properties": [{"name": "assay:contained_in", "value": one["part_of"]}],
    }


def required_component(requirement: str, scope: str) -> dict[str, Any]:
    """Describes a requirement of pip's; its version if one is demanded."""
    name, demanded = re.fullmatch(r"([\w.-]+)\s*(.*)", requirement).groups()  # type: ignore[union-attr]
    pinned = demanded.removeprefix("==") if demanded.startswith("==") else ""
    return {
        "type": "library",
        "bom-ref": f"pypi:{name}",
        "name": name,
        **({"version": pinned} if pinned else {}),
        "scope": scope,
        "purl": f"pkg:pypi/{name}" + (f"@{pinned}" if pinned else ""),
    }


def required_components(project: dict[str, Any]) -> list[dict[str, Any]]:
    """Describes the requirements of the package and of its extras, each once."""
    extras = project["optional-dependencies"].values()
    optional = sorted({one for extra in extras for one in extra} - set(project["dependencies"]))
    components = [required_component(one, "required") for one in project["dependencies"]]
    components += [required_component(one, "optional") for one in optional]
    return list({one["bom-ref"]: one for one in components}.values())


def bill_of_materials() -> dict[str, Any]:
    """Makes the whole document."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    components = [
        *(
            bundled_component(one)
            for part in ("programs", "vega.js")
            for one in read_components(part)
        ),
        *required_components(project),
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "assay",
                "name": project["name"],
                "version": project["version"],
                "description": project["description"],
                "licenses": licences_of(project["license"]),
                "purl": f"pkg:pypi/{project['name']}@{project['version']}",
            }
        },
        "components": components,
        "dependencies": [{"ref": "assay", "dependsOn": [one["bom-ref"] for one in components]}],
    }


def main() -> int:
    """Writes the document to the path given."""
    if len(sys.argv) != 2:
        sys.stderr.write(__doc__ or "")
        return 2
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(bill_of_materials(), indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
