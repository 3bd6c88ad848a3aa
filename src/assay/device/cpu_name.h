#pragma once

#include <string>
#include <string_view>

namespace assay {

/// A processor's name as it stands in a device class: lower-case words joined by '-', without what
/// says nothing: "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz" -> "intel-xeon-platinum-8375c".
/// Only letters, digits, '.', '+', '_' and '-' are left. "unknown" if nothing is.
std::string normalised_cpu_name(std::string_view model);

/// The name that a /proc/cpuinfo tells: "model name", else the ARM implementer and part ("ARM
/// Neoverse-N1", "arm 0x41 0xd0c" if the part is not known here), else "". Source of the numbers:
/// util-linux, sys-utils/lscpu-arm.c.
std::string cpu_model_from_cpuinfo(std::string_view cpuinfo);

/// The ARM implementer and part only, of the first processor in it.
std::string cpu_part_from_cpuinfo(std::string_view cpuinfo);

/// That name by what a device tree tells: "arm,cortex-a55" -> "ARM Cortex-A55"; "" if it is not
/// known here.
std::string cpu_part_from_compatible(std::string_view compatible);

}  // namespace assay
