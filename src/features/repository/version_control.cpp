#include "features/repository/version_control.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <fmt/format.h>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"

namespace assay {
namespace {

constexpr std::chrono::minutes kVersionControlTimeout{30};  // A first clone may be large.

/// Variables by which git tells its hooks where they are.
constexpr auto kOfAnotherRepository = std::to_array<std::string_view>(
    {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR",
     "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_CONFIG",
     "GIT_CEILING_DIRECTORIES", "GIT_QUARANTINE_PATH", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
     "GIT_SHALLOW_FILE", "GIT_REPLACE_REF_BASE", "HG_NODE", "HGMERGE"});

std::map<std::string, std::string> variables_of_version_control() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('='));
    if (std::ranges::find(kOfAnotherRepository, name) == kOfAnotherRepository.end() &&
        name.size() < text.size()) {
      variables.emplace(name, text.substr(name.size() + 1));
    }
  }
  variables["GIT_TERMINAL_PROMPT"] = "0";
  variables["HGPLAIN"] = "1";
  variables["LC_ALL"] = "C.UTF-8";
  return variables;
}

struct Spoken {
  CommandOutput output;
  std::string errors;
};

Result<Spoken> speak(std::vector<std::string> argv) {
  ASSAY_ASSIGN_OR_RETURN(const auto folder, TemporaryFolder::make("assay-repository"));
  const auto words = folder.path() / "stderr";
  ASSAY_ASSIGN_OR_RETURN(auto output, run_command({.argv = std::move(argv),
                                                   .env = variables_of_version_control(),
                                                   .stderr_file = words.string(),
                                                   .has_only_env = true},
                                                  kVersionControlTimeout));
  constexpr std::size_t kMostBytes = 2000;
  return Spoken{.output = std::move(output),
                .errors = capped_text(read_file(words).value_or(""), kMostBytes)};
}

}  // namespace

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (end > 0) {
      lines.emplace_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string> fields_of(std::string_view text, char separator, std::size_t most) {
  std::vector<std::string> fields;
  while (fields.size() + 1 < most) {
    const auto end = text.find(separator);
    if (end == std::string_view::npos) {
      break;
    }
    fields.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  fields.emplace_back(text);
  return fields;
}

Result<std::string> VersionControl::run(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), program_);
  auto spoken = speak(arguments);
  if (!spoken) {
    return spoken.error().code == ErrorCode::kNotFound
               ? fail(ErrorCode::kUnavailable,
                      fmt::format("{} is not installed: {}", program_, how_to_install_))
               : fail(spoken.error().code, spoken.error().message);
  }
  if (spoken->output.exit_code != 0) {
    const auto words = printable(spoken->errors);
    return fail(
        ErrorCode::kUnavailable,
        fmt::format("{} failed: {}", program_,
                    words.empty() ? fmt::format("exit code {}", spoken->output.exit_code) : words));
  }
  return std::move(spoken->output.output);
}

Result<std::vector<std::string>> VersionControl::lines(std::vector<std::string> arguments) const {
  ASSAY_ASSIGN_OR_RETURN(const auto text, run(std::move(arguments)));
  return lines_of(text);
}

Result<std::vector<std::string>> VersionControl::records(std::vector<std::string> arguments) const {
  ASSAY_ASSIGN_OR_RETURN(const auto text, run(std::move(arguments)));
  auto records = fields_of(text, '\0', text.size() + 2);
  records.pop_back();  // Behind the last end.
  return records;
}

Result<bool> VersionControl::succeeds(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), program_);
  ASSAY_ASSIGN_OR_RETURN(const auto spoken, speak(std::move(arguments)));
  return spoken.output.exit_code == 0;
}

}  // namespace assay
