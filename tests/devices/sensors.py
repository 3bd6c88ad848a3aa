"""Sensors and knobs of a test device: files that stand where Linux shows them below /sys.

A device may read and write them as real ones; a value that is written changes nothing but the file.
"""

import os
import shutil
from pathlib import Path

CPUS = Path("/sys/devices/system/cpu")
COPIED = ("present", "possible", "online", "kernel_max")
GOVERNORS = "performance powersave schedutil"

PLACES = ("thermal", "power_supply", "cpu")
"""Folders here; board_root.sh and phone_root.sh show each where this machine has its own."""


def knobs_at_start(max_khz: int) -> dict[str, str]:
    """Settings of a core's cpufreq as they are when a device has started."""
    return {
        "scaling_min_freq": "300000",
        "scaling_max_freq": str(max_khz),
        "scaling_governor": "schedutil",
    }


class Sensors:
    """The files of one device, in `folder`. Temperatures are of one zone, frequencies of each core.

    The first half of the cores is little and the other half is big; a single one is big.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._max_khz: dict[int, int] = {}
        for name in PLACES:
            (folder / name).mkdir(parents=True)
        self._copy_cpus()
        self.cores = sorted(int(core.name[3:]) for core in (folder / "cpu").glob("cpu[0-9]*"))
        for core in self.cores:
            is_big = core >= len(self.cores) // 2
            self._add_core(
                core, capacity=1024 if is_big else 446, max_khz=2800000 if is_big else 1800000
            )
        self._write("thermal/thermal_zone0/type", "cpu-thermal")
        self._write("power_supply/battery/type", "Battery")
        self.set_temperature(38.0)
        self.set_battery(85)

    def set_temperature(self, celsius: float) -> None:
        """Sets the temperature of the processor."""
        self._write("thermal/thermal_zone0/temp", str(round(celsius * 1000)))

    def set_battery(self, level: int, *, is_charging: bool = False, watts: float = 2.0) -> None:
        """Sets the charge in percent, the charger, and the power that is drawn at 4 V."""
        values = {
            "capacity": level,
            "status": "Charging" if is_charging else "Discharging",
            "voltage_now": 4000000,
            "current_now": -round(watts / 4 * 1e6),
        }
        for name, value in values.items():
            self._write(f"power_supply/battery/{name}", str(value))

    def set_frequency(self, core: int, khz: int) -> None:
        """Sets the frequency that a core runs at."""
        self._write(f"cpu/cpu{core}/cpufreq/scaling_cur_freq", str(khz))

    def read(self, core: int, name: str) -> str:
        """Reads a file of a core's cpufreq, which the device may have written."""
        return (self._folder / f"cpu/cpu{core}/cpufreq/{name}").read_text().strip()

    def permit_writing(self) -> None:
        """Lets every user of the device turn the knobs, as one that is root there may."""
        for file in self._folder.glob("cpu/cpu*/cpufreq/*"):
            file.chmod(0o666)

    def forget(self) -> None:
        """Sets the knobs as they are when the device starts."""
        for core, max_khz in self._max_khz.items():
            for name, value in knobs_at_start(max_khz).items():
                self._write(f"cpu/cpu{core}/cpufreq/{name}", value)

    def forbid_writing(self) -> None:
        """Makes the knobs read-only, as they are for people who are not root."""
        for file in self._folder.glob("cpu/cpu*/cpufreq/*"):
            file.chmod(0o444)

    def _copy_cpus(self) -> None:
        """Copies the lists and the topology of this machine's cores, which libraries read."""
        for name in COPIED:
            shutil.copyfile(CPUS / name, self._folder / "cpu" / name)
        for file in (*CPUS.glob("cpu[0-9]*/topology/*"), *CPUS.glob("cpu[0-9]*/cache/index*/*")):
            if file.is_file() and os.access(file, os.R_OK):
                self._write(f"cpu/{file.relative_to(CPUS)}", file.read_text().strip())

    def _add_core(self, core: int, capacity: int, max_khz: int) -> None:
        self._max_khz[core] = max_khz
        values = {
            "cpuinfo_min_freq": 300000,
            "cpuinfo_max_freq": max_khz,
            "scaling_cur_freq": max_khz,
            "scaling_available_governors": GOVERNORS,
            **knobs_at_start(max_khz),
        }
        for name, value in values.items():
            self._write(f"cpu/cpu{core}/cpufreq/{name}", str(value))
        self._write(f"cpu/cpu{core}/cpu_capacity", str(capacity))

    def _write(self, name: str, text: str) -> None:
        """Writes in place, so that readers with the file open see the change."""
        file = self._folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
