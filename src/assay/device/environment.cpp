#include "assay/device/environment.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/utsname.h>
#include <unistd.h>

#include "assay/record/run.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "assay/base/json.h"
#include "assay/device/core_clusters.h"
#include "assay/device/core_types.h"
#include "assay/device/cpu_name.h"
#include "assay/device/text_fields.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

/// Instruction sets that change which kernels an engine picks.
constexpr std::array<std::string_view, 33> kFlagsThatMatter = {
    "sse4_1",      "sse4_2",        "avx",        "f16c",        "fma",         "avx2",
    "avx_vnni",    "avx_vnni_int8", "avx512f",    "avx512bw",    "avx512dq",    "avx512vl",
    "avx512_vnni", "avx512_vbmi",   "avx512vbmi", "avx512_bf16", "avx512_fp16", "amx_tile",
    "amx_int8",    "amx_bf16",      "neon",       "asimd",       "fphp",        "asimdhp",
    "asimddp",     "i8mm",          "bf16",       "sve",         "sve2",        "svei8mm",
    "sme",         "sme2",          "v"};

/// Leaf 0x40000000 of cpuid names the hypervisor, in a guest of any of them (Linux
/// arch/x86/include/asm/cpuid.h; VMware, "Mechanisms to determine if software is running in a
/// VMware virtual machine").
std::string hypervisor_from_cpuid() {
#if defined(__x86_64__) || defined(__i386__)
  constexpr unsigned kHypervisorBit = 1U << 31;
  std::array<unsigned, 4> r{};
  if (__get_cpuid(1, &r[0], &r[1], &r[2], &r[3]) == 0 || (r[2] & kHypervisorBit) == 0) {
    return {};
  }
  __cpuid(0x40000000, r[0], r[1], r[2], r[3]);
  std::array<char, 13> signature{};
  std::memcpy(signature.data(), &r[1], 12);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kNames = {
      {{"KVMKVMKVM", "kvm"},
       {"VMwareVMware", "vmware"},
       {"Microsoft Hv", "hyper-v"},
       {"XenVMMXenVMM", "xen"},
       {"TCGTCGTCGTCG", "qemu-tcg"},
       {"bhyve bhyve ", "bhyve"},
       {"VBoxVBoxVBox", "virtualbox"}}};
  const std::string_view found(signature.data());
  const auto* known =
      std::ranges::find(kNames, found, [](const auto& entry) { return entry.first; });
  return std::string(known != kNames.end() ? known->second : trimmed(found));
#else
  return {};
#endif
}

/// PRETTY_NAME of os-release(5), without its quotes.
std::string os_name(const stdfs::path& root) {
  constexpr std::string_view kKey = "PRETTY_NAME=";
  const auto text = read_system_text(root / "etc/os-release").value_or("");
  const auto at = text.starts_with(kKey) ? 0 : text.find("\n" + std::string(kKey));
  if (at == std::string::npos) {
    return {};
  }
  auto value = std::string_view(text).substr(at + kKey.size() + (at == 0 ? 0 : 1));
  value = trimmed(value.substr(0, value.find('\n')));
  if (value.size() >= 2 && value.front() == value.back() && (value[0] == '"' || value[0] == '\'')) {
    value = value.substr(1, value.size() - 2);
  }
  return std::string(value);
}

std::vector<std::string> flags_that_matter(std::string_view cpuinfo) {
  const auto flags = find_field(cpuinfo, "flags");
  const auto all =
      fmt::format(" {} ", flags ? *flags : find_field(cpuinfo, "Features").value_or(""));
  std::vector<std::string> matter;
  for (const auto flag : kFlagsThatMatter) {
    if (all.find(fmt::format(" {} ", flag)) != std::string::npos) {
      matter.emplace_back(flag);
    }
  }
  return matter;
}

/// Details that explain differences between two machines of one class; only those that exist.
Json details_of(std::string_view cpuinfo, const stdfs::path& root) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kFields = {
      {{"vendor", "vendor_id"},
       {"family", "cpu family"},
       {"model", "model"},
       {"stepping", "stepping"},
       {"microcode", "microcode"},
       {"cache", "cache size"}}};
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kFiles = {
      {{"transparent_hugepage", "sys/kernel/mm/transparent_hugepage/enabled"},
       {"clock_source", "sys/devices/system/clocksource/clocksource0/current_clocksource"},
       {"governor", "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
       {"max_frequency_khz", "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"},
       {"smt", "sys/devices/system/cpu/smt/control"},
       {"product", "sys/class/dmi/id/product_name"}}};
  Json details = Json::object();
  for (const auto& [name, field] : kFields) {
    if (const auto value = find_field(cpuinfo, field)) {
      details[std::string(name)] = std::string(*value);
    }
  }
  for (const auto& [name, file] : kFiles) {
    if (const auto value = read_system_text(root / file)) {
      details[std::string(name)] = *value;
    }
  }
  return details;
}

std::string cpu_model(std::string_view cpuinfo, const stdfs::path& root) {
  if (auto model = cpu_model_from_cpuinfo(cpuinfo); !model.empty()) {
    return model;
  }
  return read_system_text(root / "proc/device-tree/model").value_or("");
}

/// True if QEMU translates this process (linux-user): the processor that uname names is not the one
/// that /proc/cpuinfo describes, which is the host's. "vendor_id" is a field of x86.
bool is_translated(const SystemFacts& facts, std::string_view cpuinfo) {
  const bool is_arm = facts.machine == "aarch64" || facts.machine.starts_with("arm");
  return is_arm && find_field(cpuinfo, "vendor_id").has_value();
}

/// Names the emulator in place of the host's processor, so that its times are never taken for those
/// of a device.
void describe_emulator(Environment& environment) {
  environment.cpu_model = "QEMU user-mode emulation";
  environment.hypervisor = kUserModeEmulator;
  environment.cpu_flags.clear();
}

/// Names all types of cores where they differ: the first core alone, mostly a little one, is that
/// of very different devices. Their number is the one of the system then, as phones take cores off
/// line and on again.
void describe_core_types(Environment& environment, const std::vector<CoreType>& types) {
  if (types.size() < 2) {
    return;
  }
  environment.cpu_model = text_of_core_types(types);
  environment.cpus = 0;
  for (const auto& type : types) {
    environment.cpus += type.count;
  }
}

/// The fields that the id of an environment is a digest of.
Json stable_part(const Environment& environment) {
  Json stable = {{"device_class", environment.device_class},
                 {"cpu_model", environment.cpu_model},
                 {"cpus", environment.cpus},
                 {"cpu_flags", environment.cpu_flags},
                 {"kernel", environment.kernel},
                 {"hypervisor", environment.hypervisor}};
  for (const auto* name : {"vendor", "family", "model", "stepping", "microcode", "governor"}) {
    if (const auto found = environment.details.find(name); found != environment.details.end()) {
      stable[name] = *found;
    }
  }
  return stable;
}

}  // namespace

SystemFacts read_system_facts() {
  utsname names{};
  ::uname(&names);
  return {.system = names.sysname,
          .machine = names.machine,
          .release = names.release,
          .cpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)),
          .hypervisor = hypervisor_from_cpuid()};
}

std::string environment_id(const Environment& environment) {
  return digest_of_json(stable_part(environment));
}

Environment environment_from(const SystemFacts& facts, const stdfs::path& root) {
  const auto cpuinfo = read_system_text(root / "proc/cpuinfo").value_or("");
  const auto meminfo = read_system_text(root / "proc/meminfo").value_or("");
  Environment environment;
  environment.cpu_model = cpu_model(cpuinfo, root);
  environment.hypervisor = facts.hypervisor.empty()
                               ? read_system_text(root / "sys/hypervisor/type").value_or("")
                               : facts.hypervisor;
  environment.cpu_flags = flags_that_matter(cpuinfo);
  environment.cpus = facts.cpus;
  if (is_translated(facts, cpuinfo)) {
    describe_emulator(environment);
  } else {
    describe_core_types(environment, read_core_types(cpuinfo, root));
  }
  environment.device_class =
      fmt::format("{}-{}:{}:{}cpu", lower_case(facts.system), lower_case(facts.machine),
                  normalised_cpu_name(environment.cpu_model), environment.cpus);
  environment.memory_bytes = find_integer_field(meminfo, "MemTotal").value_or(0) * 1024;
  environment.kernel = facts.release;
  environment.os = os_name(root);
  environment.details = details_of(cpuinfo, root);
  if (const auto clusters = read_core_clusters(root); !clusters.empty()) {
    environment.details[kCoresDetail] = clusters;
  }
  environment.id = environment_id(environment);
  return environment;
}

Environment read_environment() { return environment_from(read_system_facts(), "/"); }

}  // namespace assay
