#pragma once

#include "features/exchange/fai_pep/stand_ins.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::cli {

/// Stand-ins for the programs, files and placeholders that a file of FAI-PEP leaves open.
struct ImportFlags {
  std::vector<std::string> programs;
  std::vector<std::string> files;
  std::string root;
  std::string model_cache;
  std::vector<std::string> mirrors;
  std::vector<std::string> values;
  std::string as;
  bool allows_commands = false;

  void declare(CLI::App& app);

  /// Errors: kInvalidArgument for a flag that is no pair.
  [[nodiscard]] Result<fai_pep::StandIns> stand_ins() const;
};

/// The spec of a file of FAI-PEP, whose command programs are written below `folder`. Errors: as
/// import_specification.
Result<Json> spec_from_specification(const std::filesystem::path& file, const ImportFlags& flags,
                                     const std::filesystem::path& folder);

/// Where the programs of a file are kept that is run and not imported: one folder for each file and
/// its stand-ins.
std::filesystem::path folder_of_imports(const std::filesystem::path& file,
                                        const ImportFlags& flags);

/// Prints each test with its command lines, and what is missing. Errors: as list_tests.
Status print_tests(const std::filesystem::path& file, const ImportFlags& flags);

/// Tells whether a file is one of FAI-PEP's; a file that is no JSON is not.
bool is_specification_file(const std::filesystem::path& file);

}  // namespace assay::cli
