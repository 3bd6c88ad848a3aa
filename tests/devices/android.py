"""Programs of an Android-like root: getprop, dumpsys, settings, svc; a test sets what they say."""

from pathlib import Path

PROPERTIES = {
    "ro.product.model": "Assay Test Phone",
    "ro.product.name": "testphone",
    "ro.product.device": "testphone",
    "ro.product.cpu.abi": "arm64-v8a",
    "ro.soc.model": "QEMU",
    "ro.build.version.release": "14",
    "ro.build.version.sdk": "34",
    "ro.build.fingerprint": "assay/testphone/testphone:14/TEST/1:userdebug/test-keys",
    "ro.debuggable": "1",
    "sys.boot_completed": "1",
}

BATTERY = """\
Current Battery Service state:
  AC powered: {ac}
  USB powered: {usb}
  Wireless powered: false
  status: {status}
  health: 2
  present: true
  level: {level}
  scale: 100
  voltage: 4100
  temperature: {tenths_celsius}
  technology: Li-ion
"""

THERMAL = """\
IsStatusOverride: false
Thermal Status: {status}
Cached temperatures:
HAL Ready: {is_ready}
Current temperatures from HAL:
\tTemperature{{mValue={celsius}, mType=3, mName=skin, mStatus={status}}}
\tTemperature{{mValue={celsius}, mType=0, mName=cpu, mStatus={status}}}
Current cooling devices from HAL:
"""

# Each answer is a file, so that a change here is the next answer there.
GETPROP = """\
#!/system/bin/sh
cd /system/answers
if [ $# -eq 0 ]; then
  for file in getprop.*; do echo "[${file#getprop.}]: [$(cat "$file")]"; done
elif [ -f "getprop.$1" ]; then
  cat "getprop.$1"
else
  echo "${2-}"
fi
"""

DUMPSYS = """\
#!/system/bin/sh
if [ -f "/system/answers/dumpsys.$1" ]; then
  cat "/system/answers/dumpsys.$1"
else
  echo "Can't find service: $1" >&2
fi
"""


# Settings are files of /data, which a reboot keeps.
SETTINGS = """\
#!/system/bin/sh
file=/data/local/tmp/.setting.$3
case $1 in
  get) cat "$file" 2>/dev/null || echo null ;;
  put) echo "$4" >"$file" ;;
esac
"""

SVC = """\
#!/system/bin/sh
case "$*" in
  "power stayon true") settings put global stay_on_while_plugged_in 7 ;;
  "power stayon false") settings put global stay_on_while_plugged_in 0 ;;
esac
"""


SCRIPTS = {"getprop": GETPROP, "dumpsys": DUMPSYS, "settings": SETTINGS, "svc": SVC}


class Answers:
    """The tables of one phone, in the folder that it sees as /system."""

    def __init__(self, system: Path) -> None:
        self._folder = system / "answers"
        self._folder.mkdir()
        for name, script in SCRIPTS.items():
            (system / "bin" / name).unlink(missing_ok=True)
            (system / "bin" / name).write_text(script)
            (system / "bin" / name).chmod(0o755)
        for name, value in PROPERTIES.items():
            self.set_property(name, value)
        self.set_battery()
        self.set_thermal()

    def get_property(self, name: str) -> str:
        """Reads the property as getprop prints it there."""
        return (self._folder / f"getprop.{name}").read_text().strip()

    def set_property(self, name: str, value: str) -> None:
        """Lets getprop say that."""
        self._write(f"getprop.{name}", f"{value}\n")

    def set_battery(
        self, level: int = 85, *, is_charging: bool = True, celsius: float = 29.0
    ) -> None:
        """Lets `dumpsys battery` say that; a phone charges over USB."""
        values = {"level": level, "ac": "false", "usb": str(is_charging).lower()}
        values |= {"status": 2 if is_charging else 3, "tenths_celsius": round(celsius * 10)}
        self._write("dumpsys.battery", BATTERY.format(**values))

    def set_thermal(self, status: int = 0, *, celsius: float = 31.5, is_ready: bool = True) -> None:
        """Lets `dumpsys thermalservice` say that; status 0 is none, 3 severe, 6 shutdown."""
        values = {"status": status, "celsius": celsius, "is_ready": str(is_ready).lower()}
        self._write("dumpsys.thermalservice", THERMAL.format(**values))

    def _write(self, name: str, text: str) -> None:
        """Replaces a file at once, so that nobody there reads half of it."""
        new = self._folder / f".{name}"
        new.write_text(text)
        new.replace(self._folder / name)
