#include "assay/config/config_key.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/suggest.h"

namespace assay {
namespace {

using Names = std::string_view;

constexpr auto kThreadsVerbs = std::to_array<Names>({"bench", "eval", "compare", "profile"});
constexpr auto kLaunchesVerbs = std::to_array<Names>({"bench", "profile"});
constexpr auto kEffectVerbs = std::to_array<Names>({"compare", "history"});
constexpr auto kReportVerbs = std::to_array<Names>({"run", "bench", "eval", "conform", "report"});
constexpr auto kImportVerbs = std::to_array<Names>({"run", "import"});
constexpr auto kGcVerbs = std::to_array<Names>({"engine gc"});
constexpr auto kFormats = std::to_array<Names>(
    {"console", "json", "jsonl", "csv", "md", "junit", "html", "fai-pep", "pytorch-hud",
     "executorch-suite", "perfherder", "github-benchmark", "github-benchmark-bigger"});
constexpr auto kColours = std::to_array<Names>({"auto", "never"});

constexpr auto kConfigKeys = std::to_array<ConfigKey>({
    {.name = "home",
     .type = ConfigType::kPath,
     .built_in = "~/.local/share/assay",
     .meaning = "Folder of the store, the cache, added engines and builds of commits",
     .variable = "ASSAY_HOME",
     .is_exported = true,
     .is_asked = true},
    {.name = "store",
     .type = ConfigType::kStore,
     .built_in = "assay.db in the home",
     .meaning = "Database that holds the results: a file, or postgresql://user@host/name",
     .variable = "ASSAY_STORE",
     .flag = "--store"},
    {.name = "cache_limit",
     .type = ConfigType::kSize,
     .built_in = "10GB",
     .meaning = "Size that cached programs and references may take",
     .variable = "ASSAY_CACHE_LIMIT",
     .is_exported = true,
     .is_asked = true},
    {.name = "builds_limit",
     .type = ConfigType::kSize,
     .built_in = "10GB",
     .meaning = "Size that builds of commits may take where a repository file has no keep_builds",
     .flag = "--max",
     .verbs = kGcVerbs},
    {.name = "python",
     .type = ConfigType::kProgram,
     .built_in = "the interpreter that Assay was installed with",
     .meaning = "Python interpreter whose torch and executorch build the artifacts",
     .variable = "ASSAY_PYTHON",
     .is_exported = true,
     .flag = "--python",
     .is_asked = true},
    {.name = "device_name",
     .built_in = "none",
     .meaning = "Name of this machine: label device of each run, unless --label gives another",
     .is_asked = true},
    {.name = "meter",
     .type = ConfigType::kCommand,
     .built_in = "none",
     .meaning = "Command that reads a power meter of this machine, program and arguments"},
    {.name = "threads",
     .type = ConfigType::kInteger,
     .built_in = "the engine's choice",
     .meaning = "Number of threads",
     .flag = "--threads",
     .verbs = kThreadsVerbs,
     .may_be_in_project = true,
     .least = 1,
     .most = 1024},
    {.name = "launches",
     .type = ConfigType::kInteger,
     .built_in = "3",
     .meaning = "Number of launches; each is a process and one sample",
     .flag = "--launches",
     .verbs = kLaunchesVerbs,
     .may_be_in_project = true,
     .least = 1,
     .most = 1000},
    {.name = "min_effect",
     .type = ConfigType::kNumber,
     .built_in = "2 for compare, 1 for history",
     .meaning = "Smallest change that matters, in percent",
     .flag = "--min-effect",
     .verbs = kEffectVerbs,
     .may_be_in_project = true,
     .least = 0.1,
     .most = 99},
    {.name = "root",
     .type = ConfigType::kPath,
     .built_in = "none",
     .meaning = "Folder that locations //… of FAI-PEP's files start from",
     .flag = "--root",
     .verbs = kImportVerbs},
    {.name = "mirrors",
     .type = ConfigType::kFolders,
     .built_in = "none",
     .meaning = "Folders with the files below a URL, as URL=FOLDER, for FAI-PEP's files",
     .flag = "--mirror",
     .verbs = kImportVerbs},
    {.name = "format",
     .type = ConfigType::kChoice,
     .built_in = "console",
     .meaning = "Format of the main report where the extension of --out names none",
     .flag = "--format",
     .verbs = kReportVerbs,
     .may_be_in_project = true,
     .choices = kFormats},
    {.name = "colour",
     .type = ConfigType::kChoice,
     .built_in = "auto",
     .meaning = "Colours on a terminal",
     .variable = "NO_COLOR",
     .variable_value = "never",
     .choices = kColours},
});

}  // namespace

std::span<const ConfigKey> config_keys() { return kConfigKeys; }

std::vector<std::string> names_of_config_keys(bool is_project) {
  std::vector<std::string> names;
  for (const auto& key : kConfigKeys) {
    if (!is_project || key.may_be_in_project) {
      names.emplace_back(key.name);
    }
  }
  return names;
}

Result<const ConfigKey*> get_config_key(std::string_view name) {
  const auto* const found = std::ranges::find(kConfigKeys, name, &ConfigKey::name);
  if (found == kConfigKeys.end()) {
    return fail(ErrorCode::kNotFound, fmt::format("unknown key '{}'{}", name,
                                                  suggestion_for(name, names_of_config_keys())));
  }
  return found;
}

std::string form_of_values(const ConfigKey& key) {
  switch (key.type) {
    case ConfigType::kText:
      return "a text";
    case ConfigType::kPath:
      return "an absolute path or one that begins with ~/";
    case ConfigType::kStore:
      return "an absolute path, one that begins with ~/, or a URL such as postgresql://host/name";
    case ConfigType::kProgram:
      return "the name of a program, an absolute path or one that begins with ~/";
    case ConfigType::kSize:
      return "a size such as 500MB";
    case ConfigType::kInteger:
      return fmt::format("an integer from {} to {}", key.least, key.most);
    case ConfigType::kNumber:
      return fmt::format("a number from {} to {}", key.least, key.most);
    case ConfigType::kChoice:
      return fmt::format("one of {}", fmt::join(key.choices, ", "));
    case ConfigType::kCommand:
    case ConfigType::kFolders:
      return "a list of texts";
  }
  return "";
}

}  // namespace assay
