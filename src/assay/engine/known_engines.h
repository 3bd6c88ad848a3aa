#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// An engine that comes with Assay.
struct KnownEngine {
  std::string name;
  std::string how_to_get;           ///< Advice when its runner is missing.
  std::string how_to_install;       ///< Package with its runner's libraries; empty: none needed.
  std::string package = {};         ///< Python package that holds the engine; empty: none does.
  bool is_in_python = false;        ///< Its runner starts an interpreter.
  std::string not_on_devices = {};  ///< Why it never runs on a device; empty: its runner may.
  /// Libraries that it opens while it runs, by name with * and ?, in addition to those that it
  /// needs.
  std::vector<std::string> loads = {};
  /// Ways to get backends that its usual installation lacks, by the name that programs give them.
  std::map<std::string, std::string> backends = {};
};

/// python/assay/data/engines.json, which Python and the build read too, in the order in which
/// engines are listed.
std::span<const KnownEngine> known_engines();

/// nullptr: no engine of that name comes with Assay.
const KnownEngine* find_known_engine(std::string_view name);

/// True for Assay's engines that are written in Python.
bool is_known_in_python(std::string_view name);

}  // namespace assay
