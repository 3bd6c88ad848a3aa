"""Execution providers: those that ONNX Runtime has built in, and those in packages of their own."""

import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from assay._errors import AssayError

CPU = "CPUExecutionProvider"
QNN = "QNNExecutionProvider"


@dataclass(frozen=True)
class PluginProvider:
    """A provider that a package brings.

    `defaults`: options that it needs and that the user may override, given the package. `emulator`:
    what executes where its devices are the CPU.
    """

    package: str
    how_to_get: str
    defaults: Callable[[Any], dict[str, str]]
    emulator: str


def _qnn_defaults(package: Any) -> dict[str, str]:
    """HTP of the SoC SM8650 (soc_model 57), in float16 where the program is float32."""
    return {
        "backend_path": package.get_qnn_htp_path(),
        "htp_arch": "75",
        "soc_model": "57",
        "enable_htp_fp16_precision": "1",
    }


PLUGINS = {
    QNN: PluginProvider("onnxruntime_qnn", "make qnn", _qnn_defaults, "QNN's emulator of HTP")
}


def add_providers(ort: Any, settings: Any, options: Mapping[str, Any]) -> list[Any] | None:
    """The provider that was asked for, then the CPU, which takes what the first refuses.

    None: it comes in a package of its own, and `settings` have it.

    Raises:
        AssayError: unavailable, invalid_argument (its options).
    """
    wanted = options.get("provider", CPU)
    details = _read_details(options)
    if wanted in PLUGINS:
        plugin = PLUGINS[wanted]
        package = _register(ort, wanted, plugin)
        devices = _devices(ort, wanted)
        if not devices:
            raise AssayError(f"{wanted} finds no device here", code="unavailable")
        texts = {name: str(value) for name, value in details.items()}
        settings.add_provider_for_devices(devices[:1], plugin.defaults(package) | texts)
        return None
    available = ort.get_available_providers()
    if wanted not in available:
        raise AssayError(
            f"ONNX Runtime has no provider '{wanted}' here; it has: {', '.join(available)}",
            code="unavailable",
        )
    return [(wanted, details)] + ([] if wanted == CPU else [CPU])


def find_emulator(ort: Any, provider: str) -> str:
    """Names what stands in for the provider's hardware; empty: that itself executes."""
    plugin = PLUGINS.get(provider)
    is_cpu = any(
        device.device.type == ort.OrtHardwareDeviceType.CPU
        for device in (_devices(ort, provider) if plugin else [])[:1]
    )
    return plugin.emulator if plugin and is_cpu else ""


def _devices(ort: Any, provider: str) -> list[Any]:
    return [device for device in ort.get_ep_devices() if device.ep_name == provider]


def _register(ort: Any, name: str, plugin: PluginProvider) -> Any:
    """The provider's package, its library registered once."""
    try:
        package = importlib.import_module(plugin.package)
    except ImportError as error:
        raise AssayError(
            f"{name} is in the package {plugin.package}, which is not here: {plugin.how_to_get}",
            code="unavailable",
        ) from error
    if name not in ort.get_available_providers():
        try:
            ort.register_execution_provider_library(name, package.get_library_path())
        except Exception as error:
            raise AssayError(f"{name} does not load: {error}", code="unavailable") from error
    return package


def _read_details(options: Mapping[str, Any]) -> dict[str, Any]:
    try:
        details = json.loads(options.get("provider_options") or "{}")
    except ValueError as error:
        raise AssayError(
            f"provider_options is no JSON object: {error}", code="invalid_argument"
        ) from error
    if not isinstance(details, dict):
        raise AssayError("provider_options is no JSON object", code="invalid_argument")
    return details
