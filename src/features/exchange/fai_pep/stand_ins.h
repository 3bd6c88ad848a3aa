#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"

namespace assay::fai_pep {

/// Address from which FAI-PEP downloaded a file, and its path here: "https://host/models" and a
/// folder.
struct Mirror {
  std::string prefix;
  std::filesystem::path folder;
};

/// The user's answers to what a specification leaves open.
struct StandIns {
  std::map<std::string, std::filesystem::path> programs;  ///< "program" by its name.
  std::map<std::string, std::filesystem::path> files;     ///< By key: "graph", "files.graph".
  std::filesystem::path root;                             ///< Base of locations "//…"; empty: none.
  std::filesystem::path model_cache;  ///< With <format>/<name>/<filename>; empty: none.
  std::vector<Mirror> mirrors;
  std::map<std::string, std::string> values;  ///< Keyed by placeholder; FAI-PEP's --string_map.
  bool allows_commands = false;  ///< Runs those of the host, before and after the measured one.
  int processors = 0;            ///< Number that this machine has; 0: unknown.
};

/// A whole decimal number; absent for anything else.
std::optional<double> number_from_text(const std::string& text);

/// "NAME=VALUE" as a pair. Errors: kInvalidArgument, naming the flag.
Result<std::pair<std::string, std::string>> pair_from_flag(const std::string& flag,
                                                           const std::string& text);

}  // namespace assay::fai_pep
