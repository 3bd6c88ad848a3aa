#include "assay/device/environment.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/device/cpu_name.h"
#include "assay/device/testing/sample_root.h"

namespace assay {
namespace {

using testing::ElementsAre;

const SystemFacts kGuest{.system = "Linux",
                         .machine = "x86_64",
                         .release = "6.1.0-18-amd64",
                         .cpus = 2,
                         .hypervisor = "kvm"};

constexpr const char* kEpyc =
    "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
    "model name\t: AMD EPYC\nstepping\t: 1\nmicrocode\t: 0x1000065\ncache size\t: 1024 KB\n"
    "flags\t\t: fpu vme avx fma avx2 avx512f avx512_vnni avx512_bf16 fsrm\n\nprocessor\t: 1\n";

TEST(CpuName, LosesWhatSaysNothing) {
  EXPECT_EQ(normalised_cpu_name("AMD EPYC"), "amd-epyc");
  EXPECT_EQ(normalised_cpu_name("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz"),
            "intel-xeon-platinum-8375c");
  EXPECT_EQ(normalised_cpu_name("AMD EPYC 7763 64-Core Processor"), "amd-epyc-7763");
  EXPECT_EQ(normalised_cpu_name("12th Gen Intel(R) Core(TM) i7-1260P"), "intel-core-i7-1260p");
  EXPECT_EQ(normalised_cpu_name("AMD Ryzen 7 7840U w/ Radeon  780M Graphics"), "amd-ryzen-7-7840u");
  EXPECT_EQ(normalised_cpu_name("QEMU Virtual CPU version 2.5+"), "qemu-virtual-version-2.5+");
  EXPECT_EQ(normalised_cpu_name("ARM Neoverse-N1"), "arm-neoverse-n1");
  EXPECT_EQ(normalised_cpu_name("a:b/c"), "a-b-c");
  EXPECT_EQ(normalised_cpu_name(""), "unknown");
  EXPECT_EQ(normalised_cpu_name(" CPU @ 3 GHz"), "unknown");
}

TEST(CpuModel, IsReadFromEitherKindOfCpuinfo) {
  EXPECT_EQ(cpu_model_from_cpuinfo(kEpyc), "AMD EPYC");
  EXPECT_EQ(cpu_model_from_cpuinfo("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"),
            "ARM Neoverse-N1");
  EXPECT_EQ(cpu_model_from_cpuinfo("CPU implementer\t: 0x41\nCPU part\t: 0xfff\n"),
            "arm 0x41 0xfff");
  EXPECT_EQ(cpu_model_from_cpuinfo("CPU implementer\t: 0x51\nCPU part\t: 0xd0c\n"),
            "arm 0x51 0xd0c");
  EXPECT_EQ(cpu_model_from_cpuinfo("processor : 0\n"), "");
}

TEST(Environment, DescribesAVirtualMachine) {
  SampleRoot root;
  root.with("proc/cpuinfo", kEpyc)
      .with("proc/meminfo", "MemTotal:       24689664 kB\n")
      .with("etc/os-release",
            "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\n");
  const auto environment = environment_from(kGuest, root.path());
  EXPECT_EQ(environment.device_class, "linux-x86_64:amd-epyc:2cpu");
  EXPECT_EQ(environment.cpu_model, "AMD EPYC");
  EXPECT_EQ(environment.cpus, 2);
  EXPECT_EQ(environment.memory_bytes, 24689664LL * 1024);
  EXPECT_EQ(environment.kernel, "6.1.0-18-amd64");
  EXPECT_EQ(environment.os, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(environment.hypervisor, "kvm");
  EXPECT_THAT(environment.cpu_flags,
              ElementsAre("avx", "fma", "avx2", "avx512f", "avx512_vnni", "avx512_bf16"));
  EXPECT_EQ(environment.details["microcode"], "0x1000065");
  EXPECT_EQ(environment.id.size(), 64U);
}

TEST(Environment, DescribesAnArmBoard) {
  SampleRoot root;
  root.with("proc/cpuinfo", "processor : 0\nFeatures : fp asimd asimddp aes\n")
      .with("proc/device-tree/model", std::string("Raspberry Pi 4 Model B Rev 1.4\0", 31))
      .with("sys/hypervisor/type", "xen\n")
      .with("etc/os-release", "NAME=Yocto\nPRETTY_NAME=Yocto 5.0\n");
  SystemFacts facts = kGuest;
  facts.machine = "aarch64";
  facts.hypervisor = "";
  const auto environment = environment_from(facts, root.path());
  EXPECT_EQ(environment.device_class, "linux-aarch64:raspberry-pi-4-model-b-rev-1.4:2cpu");
  EXPECT_EQ(environment.os, "Yocto 5.0");
  EXPECT_EQ(environment.hypervisor, "xen");
  EXPECT_THAT(environment.cpu_flags, ElementsAre("asimd", "asimddp"));
}

/// A /proc/cpuinfo of cores with these parts, from core 0 on.
std::string cpuinfo_of(const std::vector<std::pair<int, const char*>>& clusters) {
  std::string text;
  int core = 0;
  for (const auto& [count, part] : clusters) {
    for (int i = 0; i < count; ++i) {
      text +=
          fmt::format("processor\t: {}\nCPU implementer\t: 0x41\nCPU part\t: {}\n\n", core++, part);
    }
  }
  return text;
}

std::string class_of_arm(SampleRoot& root, const std::string& cpuinfo, int online) {
  root.with("proc/cpuinfo", cpuinfo);
  return environment_from({.system = "Linux", .machine = "aarch64", .cpus = online}, root.path())
      .device_class;
}

TEST(Environment, TellsDevicesWithTheSameFirstCoreApart) {
  SampleRoot root;
  const auto board = class_of_arm(root, cpuinfo_of({{4, "0xd05"}, {4, "0xd0b"}}), 8);
  EXPECT_EQ(board, "linux-aarch64:4x-arm-cortex-a55+4x-arm-cortex-a76:8cpu");
  EXPECT_EQ(class_of_arm(root, cpuinfo_of({{4, "0xd05"}, {3, "0xd41"}, {1, "0xd44"}}), 8),
            "linux-aarch64:4x-arm-cortex-a55+3x-arm-cortex-a78+1x-arm-cortex-x1:8cpu");
  EXPECT_EQ(class_of_arm(root, cpuinfo_of({{4, "0xd0b"}}), 4), "linux-aarch64:arm-cortex-a76:4cpu")
      << "cores that are all alike are named as before";
}

TEST(Environment, KeepsItsClassWhileCoresAreOffLine) {
  const auto whole = cpuinfo_of({{4, "0xd05"}, {4, "0xd0b"}});
  const auto half = whole.substr(0, whole.find("processor\t: 5"));
  const auto little = whole.substr(0, whole.find("processor\t: 4"));
  SampleRoot root;
  for (int core = 0; core < 8; ++core) {
    root.with(fmt::format("sys/devices/system/cpu/cpu{}/online", core), "1\n");
  }
  root.with("sys/devices/system/cpu/cpufreq/policy4/related_cpus", "4 5 6 7\n");
  const auto expected = class_of_arm(root, whole, 8);
  EXPECT_EQ(class_of_arm(root, half, 5), expected) << "by the policy of a core that is on line";
  for (int core = 4; core < 8; ++core) {
    root.with(fmt::format("sys/devices/system/cpu/cpu{}/of_node/compatible", core),
              std::string("arm,cortex-a76\0", 15));
  }
  EXPECT_EQ(class_of_arm(root, little, 4), expected) << "by the device tree";
}

TEST(Environment, NamesTheEmulatorRatherThanTheProcessorOfItsHost) {
  SampleRoot root;
  root.with("proc/cpuinfo", kEpyc);  // QEMU's user mode shows that of the host.
  SystemFacts facts = kGuest;
  facts.machine = "aarch64";
  facts.hypervisor = "";
  const auto environment = environment_from(facts, root.path());
  EXPECT_EQ(environment.device_class, "linux-aarch64:qemu-user-mode-emulation:2cpu");
  EXPECT_EQ(environment.hypervisor, "qemu-user");
  EXPECT_THAT(environment.cpu_flags, testing::IsEmpty());
}

TEST(Environment, HasTheSameIdUntilTheMachineChanges) {
  SampleRoot root;
  root.with("proc/cpuinfo", kEpyc);
  const auto before = environment_from(kGuest, root.path());
  EXPECT_EQ(environment_from(kGuest, root.path()).id, before.id);
  auto updated = kGuest;
  updated.release = "6.1.0-19-amd64";
  const auto after = environment_from(updated, root.path());
  EXPECT_NE(after.id, before.id);
  EXPECT_EQ(after.device_class, before.device_class);
}

TEST(Environment, HasTheSameIdWhateverVariesFromDayToDay) {
  SampleRoot root;
  root.with("proc/cpuinfo", kEpyc)
      .with("proc/meminfo", "MemTotal:       24689664 kB\n")
      .with("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  const auto before = environment_from(kGuest, root.path());
  root.with("proc/meminfo", "MemTotal:       24689660 kB\n")
      .with("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
  const auto after = environment_from(kGuest, root.path());
  EXPECT_EQ(after.id, before.id);
  EXPECT_NE(after.memory_bytes, before.memory_bytes);
  root.with("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  EXPECT_NE(environment_from(kGuest, root.path()).id, before.id);
}

TEST(Environment, OfNothingIsStillWhole) {
  const SampleRoot root;
  const auto environment = environment_from({}, root.path());
  EXPECT_EQ(environment.device_class, "-:unknown:0cpu");
  EXPECT_TRUE(environment.cpu_flags.empty());
}

TEST(Environment, OfThisMachineIsStable) {
  const auto environment = read_environment();
  EXPECT_GT(environment.cpus, 0);
  EXPECT_GT(environment.memory_bytes, 0);
  EXPECT_FALSE(environment.kernel.empty());
  EXPECT_EQ(read_environment().id, environment.id);
}

}  // namespace
}  // namespace assay
