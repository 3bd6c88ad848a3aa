#include "assay/cli/help_layout.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace assay::cli {
namespace {

struct FlagLayout {
  const char* flag;
  const char* group;
  const char* value;  ///< Metavar; null: a flag without a value, or one that lists its words.
};

constexpr const char* kModel = "Model and inputs";
constexpr const char* kEngine = "Recipe and engine";
constexpr const char* kDevices = "Devices and fleets";
constexpr const char* kMeasuring = "Measuring";
constexpr const char* kAccuracy = "Accuracy";
constexpr const char* kChoice = "Choice of cases";
constexpr const char* kLimits = "Limits";
constexpr const char* kOutput = "Output";
constexpr const char* kMaking = "Making artifacts";
constexpr const char* kRuns = "Runs and store";
constexpr const char* kCommits = "Commits";
constexpr const char* kConfiguration = "Configuration";
constexpr const char* kServer = "Server";

/// Flags by what they are about. A flag means the same in every verb, and stands in one group.
constexpr auto kFlags = std::to_array<FlagLayout>({
    {"--input-shape", kModel, "SHAPE[:TYPE]"},
    {"--dimension", kModel, "NAME=SIZE"},
    {"--inputs", kModel, "FILE"},
    {"--args", kModel, "JSON"},
    {"--program", kModel, "FILE"},
    {"--data", kModel, "FILE"},
    {"--seed", kModel, "N"},
    {"--recipe", kEngine, "NAME"},
    {"--engine", kEngine, "NAME[@BUILD]"},
    {"--option", kEngine, "NAME=VALUE"},
    {"--options", kEngine, "JSON"},
    {"--threads", kEngine, "N"},
    {"--library", kEngine, "[ENGINE=]FILE"},
    {"--environment", kEngine, "NAME"},
    {"--device", kDevices, "NAME"},
    {"--exclude-device", kDevices, "NAME"},
    {"--executor", kDevices, "NAME"},
    {"--job", kDevices, "FILE"},
    {"--describe", kDevices, nullptr},
    {"--ready", kDevices, nullptr},
    {"--canary", kDevices, "FILE"},
    {"--undo", kConfiguration, nullptr},
    {"--artifacts", kDevices, "FOLDER|URL"},
    {"--reason", kChoice, "SENTENCE"},
    {"--base", kCommits, "COMMIT"},
    {"--head", kCommits, "COMMIT"},
    {"--once", kCommits, nullptr},
    {"--status", kCommits, nullptr},
    {"--stop", kCommits, nullptr},
    {"--acknowledge", kCommits, "ID"},
    {"--accept", kCommits, "ID"},
    {"--note", kCommits, "REASON"},
    {"--events", kOutput, "FILE"},
    {"--expand", kEngine, nullptr},
    {"--launches", kMeasuring, "N"},
    {"--interval", kMeasuring, "PERCENT"},
    {"--warmup", kMeasuring, "N|auto"},
    {"--iterations", kMeasuring, "N|auto"},
    {"--time-budget", kMeasuring, "DURATION"},
    {"--scenario", kMeasuring, "NAME=VALUE"},
    {"--sensors", kMeasuring, "PERIOD"},
    {"--profile", kMeasuring, nullptr},
    {"--profile-iterations", kMeasuring, "N"},
    {"--callgrind", kMeasuring, nullptr},
    {"--leak-check", kMeasuring, nullptr},
    {"--measure-identical", kMeasuring, nullptr},
    {"--metric", kMeasuring, "NAME"},
    {"--min-effect", kMeasuring, "PERCENT"},
    {"--most-pairs", kMeasuring, "N"},
    {"--again", kMeasuring, nullptr},
    {"--spec", kMeasuring, "FILE"},
    {"--at", kChoice, "COMMIT"},
    {"--no-canary", kMeasuring, nullptr},
    {"--no-pinning", kMeasuring, nullptr},
    {"--duet", kMeasuring, nullptr},
    {"--for", kMeasuring, "DURATION"},
    {"--against", kAccuracy, "KIND"},
    {"--expected", kAccuracy, "FILE"},
    {"--parity", kAccuracy, nullptr},
    {"--samples", kAccuracy, "N"},
    {"--require", kAccuracy, "BOUND"},
    {"--require-delegation", kAccuracy, nullptr},
    {"--from", kChoice, "FILE"},
    {"--since", kChoice, "COMMIT"},
    {"--explain", kChoice, "COMMIT"},
    {"--only", kChoice, "SUBSTRING"},
    {"--purpose", kChoice, "VERB"},
    {"--model", kChoice, "SUBSTRING"},
    {"--keep", kChoice, "N"},
    {"--older-than", kChoice, "DURATION"},
    {"--larger-than", kChoice, "SIZE"},
    {"--suite", kChoice, nullptr},
    {"--tier", kChoice, nullptr},
    {"--match", kChoice, "PATTERN"},
    {"--dtype", kChoice, "TYPE"},
    {"--shard", kChoice, "I/N"},
    {"--count", kChoice, "N"},
    {"--max-cases", kChoice, "N"},
    {"--check", kChoice, "WHAT"},
    {"--changed-since", kChoice, "RUN"},
    {"--known", kChoice, "FOLDER"},
    {"--update-known", kChoice, nullptr},
    {"--budget", kLimits, "DURATION"},
    {"--launch-timeout", kLimits, "DURATION"},
    {"--job-timeout", kLimits, "DURATION"},
    {"--memory-limit", kLimits, "SIZE"},
    {"--sandbox", kLimits, "MODE"},
    {"--trust", kLimits, nullptr},
    {"--to", kLimits, "SIZE"},
    {"--max", kLimits, "SIZE"},
    {"--loads", kLimits, "N"},
    {"--loads-budget", kLimits, "DURATION"},
    {"--format", kOutput, "FORMAT"},
    {"--out", kOutput, "PATH"},
    {"--report", kOutput, "FILE"},
    {"--json", kOutput, nullptr},
    {"--graph", kOutput, nullptr},
    {"--baseline", kOutput, "RECIPE"},
    {"--accuracy", kOutput, nullptr},
    {"--memory", kOutput, nullptr},
    {"--coverage", kOutput, nullptr},
    {"--against-run", kOutput, "RUN"},
    {"--layers", kOutput, nullptr},
    {"--top", kOutput, "N"},
    {"--trace", kOutput, "FILE"},
    {"--bundle", kOutput, "FOLDER"},
    {"--limit", kOutput, "N"},
    {"--quiet", kOutput, nullptr},
    {"--verbose", kOutput, nullptr},
    {"--dry-run", kOutput, nullptr},
    {"--python", kMaking, "PROGRAM"},
    {"--plugin", kMaking, "FILE"},
    {"--jobs", kMaking, "N"},
    {"--batch", kMaking, "N"},
    {"--rebuild", kMaking, nullptr},
    {"--stop-after", kMaking, nullptr},
    {"--prefix", kMaking, "FOLDER"},
    {"--triple", kMaking, "TRIPLE"},
    {"--sysroot", kMaking, "FOLDER"},
    {"--toolchain", kMaking, "FILE.cmake"},
    {"--file", kMaking, "FILE.py:CLASS"},
    {"--runner", kMaking, "PROGRAM"},
    {"--cmake", kMaking, "PROGRAM"},
    {"--device-bundle", kMaking, "FOLDER"},
    {"--source", kMaking, "FOLDER"},
    {"--backends", kMaking, "NAME"},
    {"--send", kMaking, "FILE"},
    {"--label", kRuns, "KEY=VALUE"},
    {"--resume", kRuns, "RUN"},
    {"--run", kRuns, "RUN"},
    {"--replay", kRuns, "FILE"},
    {"--store", kRuns, "FILE"},
    {"--remove", kRuns, "KEY"},
    {"--host", kServer, "ADDRESS"},
    {"--port", kServer, "N"},
    {"--public-name", kServer, "NAME"},
    {"--read-token-file", kServer, "FILE"},
    {"--add-token-file", kServer, "FILE"},
    {"--max-part", kLimits, "SIZE"},
    {"--name", kConfiguration, "NAME"},
    {"--folder", kConfiguration, "FOLDER"},
    {"--forget", kConfiguration, nullptr},
    {"--yes", kConfiguration, nullptr},
    {"--show", kConfiguration, nullptr},
    {"--set", kConfiguration, "KEY=VALUE"},
    {"--unset", kConfiguration, "KEY"},
    {"--reset", kConfiguration, nullptr},
    {"--repository", kConfiguration, "FOLDER|URL"},
});

/// Flags that the short help of a verb with many flags shows.
constexpr auto kMainFlags = std::to_array<std::string_view>({
    "--recipe",  "--engine",   "--threads",  "--input-shape", "--inputs", "--against", "--samples",
    "--require", "--launches", "--interval", "--scenario",    "--metric", "--suite",   "--tier",
    "--match",   "--check",    "--from",     "--since",       "--run",    "--device",  "--label",
    "--report",  "--out",      "--profile",  "--dry-run",     "--resume", "--once",    "--status",
    "--explain", "--model",    "--set",      "--show",        "--source", "--prefix",
});

std::string long_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? "" : "--" + option.get_lnames().front();
}

/// A check's own words go, for its error has them too; a choice of words is what the flag takes.
void shorten_check(CLI::Option& option) {
  // CLI11 tells whether there is a check by the colon that it puts before its words.
  const auto name = option.get_type_name();
  if (name.find(':') == std::string::npos) {
    return;
  }
  const auto words = option.get_validator()->get_description();
  if (words.starts_with('{')) {
    option.type_name(words);
  }
  option.get_validator()->description("");
}

void lay_out_flag(CLI::Option& option) {
  const auto name = long_name(option);
  const auto* layout =
      std::ranges::find_if(kFlags, [&name](const FlagLayout& one) { return name == one.flag; });
  // A flag of imports keeps the group that it was declared with.
  if (layout == kFlags.end() || option.get_group() == kImports) {
    return;
  }
  option.group(layout->group);
  if (layout->value != nullptr) {
    option.type_name(layout->value);
  }
}

}  // namespace

bool is_main_flag(const CLI::Option& option) {
  return std::ranges::find(kMainFlags, long_name(option)) != kMainFlags.end();
}

void lay_out_help(CLI::App& verb, const char* example) {
  for (auto* option : verb.get_options()) {
    shorten_check(*option);
    lay_out_flag(*option);
  }
  for (auto* below : verb.get_subcommands(/*filter=*/[](CLI::App*) { return true; })) {
    below->group("Verbs");  // CLI11 passes on the group of the verb above.
    lay_out_help(*below, nullptr);
  }
  if (example != nullptr) {
    verb.footer(std::string("Example:\n  ") + example);
  }
}

}  // namespace assay::cli
