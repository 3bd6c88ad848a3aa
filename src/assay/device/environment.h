#pragma once

#include <filesystem>
#include <string>

#include "assay/record/run.h"

namespace assay {

/// Facts that the system reports by calls rather than files.
struct SystemFacts {
  std::string system;   ///< "Linux"
  std::string machine;  ///< "x86_64"
  std::string release;  ///< Kernel release.
  int cpus = 0;         ///< Processors that are on line, whether or not this process may use them.
  std::string hypervisor;  ///< "kvm", "vmware", …; empty: none, or unknown.
};

SystemFacts read_system_facts();

/// This machine: its class ("linux-x86_64:amd-epyc:2cpu"), processor, memory, kernel, system. Holds
/// no host name, serial or address. The same machine gives the same id until it changes.
Environment read_environment();

/// Digest of what stays as long as the machine is the same: Environment::id.
std::string environment_id(const Environment& environment);

/// Builds the environment from given facts and a folder in place of "/"; for tests.
Environment environment_from(const SystemFacts& facts, const std::filesystem::path& root);

}  // namespace assay
