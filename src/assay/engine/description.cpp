#include "assay/engine/description.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string.h>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/record/boxed_command.h"
#include "assay/record/sandbox.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

constexpr std::chrono::seconds kDescribeTimeout{10};
constexpr std::string_view kSchema = "assay/description/2";
constexpr const char* kDependsOn = "depends_on";
constexpr const char* kReads = "reads";

/// Times of files are this coarse, or better: what changed later than this before a description
/// may change once more without another time.
constexpr std::chrono::milliseconds kTimeGrain{20};

/// The last line that a failed runner said; empty: none.
std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of("\n ");
  if (end == std::string::npos) {
    return "";
  }
  const auto begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin + 1) + 1);
}

/// A runner that a signal ended may be as it should: the system's memory ran out, or someone killed
/// it.
Error died(const stdfs::path& runner, int signal, const std::string& said) {
  return {
      .code = ErrorCode::kCrashed,
      .message = fmt::format("'{}' died of signal {} ({}) while it described itself{}{}; run it "
                             "to see more: {} --describe",
                             runner.string(), signal, ::strsignal(signal),
                             said.empty() ? "" : ", having said: ", said, runner.string())};
}

Error undescribed(const stdfs::path& runner, const CommandOutput& output, const std::string& said) {
  if (output.signal != 0) {
    return died(runner, output.signal, said);
  }
  if (!said.empty()) {
    return {.code = ErrorCode::kUnavailable, .message = said};
  }
  return {.code = ErrorCode::kUnavailable,
          .message = fmt::format("'{} --describe' failed (exit code {}); a library that it needs "
                                 "may be missing: ldd {}",
                                 runner.string(), output.exit_code, runner.string())};
}

/// Runs `RUNNER --describe`, which prints an EngineDescription.
Result<Json> ask(const stdfs::path& runner, SandboxMode sandbox,
                 const std::vector<std::string>& reads) {
  ASSAY_ASSIGN_OR_RETURN(const auto folder, TemporaryFolder::make("assay-describe"));
  const auto words = folder.path() / "stderr";
  SandboxRequest box{.mode = sandbox, .readable = reads};
  box.readable.push_back(runner.string());
  box.readable.push_back(runner.parent_path().string());
  const auto output = run_command(
      {.argv = boxed_command(box, folder.path().string(), {runner.string(), "--describe"}),
       .env = {},
       .stderr_file = words.string()},
      kDescribeTimeout);
  if (!output) {
    const bool is_exhausted = output.error().code == ErrorCode::kExhausted;
    return fail(is_exhausted ? ErrorCode::kExhausted : ErrorCode::kUnavailable,
                output.error().message);
  }
  auto details = parse_json(output->output, runner.string());
  if (output->exit_code != 0 || !details || !details->is_object() || !details->contains("name")) {
    return std::unexpected(undescribed(runner, *output, last_line(read_file(words).value_or(""))));
  }
  return details;
}

/// An engine lists objects with names, such as its options; empty: it does.
std::string fault_of_list(const Json& details, const char* key) {
  const auto list = details.find(key);
  const auto is_named = [](const Json& one) {
    return one.is_object() && one.contains("name") && one.at("name").is_string();
  };
  if (list == details.end() || list->is_null() ||
      (list->is_array() && std::ranges::all_of(*list, is_named))) {
    return "";
  }
  return fmt::format("\"{}\" must be a list of objects with a \"name\"", key);
}

}  // namespace

Result<EngineBuild> build_from_description(const stdfs::path& runner, Json details) {
  if (!details.is_object()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("'{} --describe' does not print an object", runner.string()));
  }
  for (const char* key : {"options", "backends"}) {
    if (const auto fault = fault_of_list(details, key); !fault.empty()) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("'{} --describe': {}", runner.string(), fault));
    }
  }
  details.erase(kDependsOn);
  try {
    auto reads = details.value(kReads, std::vector<std::string>());
    details.erase(kReads);
    return EngineBuild{.name = details.at("name").get<std::string>(),
                       .label = details.value("version", "unknown"),
                       .runner = runner.string(),
                       .build_id = details.value("build_id", ""),
                       .details = details,
                       .reads = std::move(reads)};
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("'{} --describe': {}", runner.string(), error.what()));
  }
}

namespace {

/// When a path changed last, and its size; null: it is not there.
Json stamp_of(const stdfs::path& path) {
  std::error_code error;
  const auto changed = stdfs::last_write_time(path, error);
  if (error) {
    return nullptr;
  }
  const auto size = stdfs::is_regular_file(path, error) ? stdfs::file_size(path, error) : 0;
  return {static_cast<std::int64_t>(changed.time_since_epoch().count()), size};
}

/// Stamps by path, of the runner and what its description depends on; nullopt: it does not say, or
/// one of them may still be changing.
std::optional<Json> stamps_of(const stdfs::path& runner, const Json& details,
                              stdfs::file_time_type asked) {
  const auto paths = details.find(kDependsOn);
  if (paths == details.end() || !paths->is_array() || paths->empty() ||
      !std::ranges::all_of(*paths, &Json::is_string)) {
    return std::nullopt;
  }
  Json stamps = {{runner.string(), stamp_of(runner)}};
  for (const auto& path : *paths) {
    stamps[path.get<std::string>()] = stamp_of(path.get<std::string>());
  }
  const auto settled = static_cast<std::int64_t>((asked - kTimeGrain).time_since_epoch().count());
  const bool is_settled = std::ranges::all_of(stamps, [settled](const Json& stamp) {
    return stamp.is_null() || stamp.at(0).get<std::int64_t>() < settled;
  });
  return is_settled ? std::optional(std::move(stamps)) : std::nullopt;
}

/// A kept build of which nothing has changed since.
std::optional<EngineBuild> find_kept(const stdfs::path& file, const stdfs::path& runner) {
  const auto kept = read_json_file(file);
  if (!kept) {
    return std::nullopt;
  }
  try {
    const auto& stamps = kept->at("stamps");
    if (kept->at("schema") != kSchema || !stamps.contains(runner.string())) {
      return std::nullopt;
    }
    for (const auto& [path, stamp] : stamps.items()) {
      if (stamp_of(path) != stamp) {
        return std::nullopt;
      }
    }
    auto build = kept->at("build").get<EngineBuild>();
    return build.runner == runner ? std::optional(std::move(build)) : std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

/// Names the file of one runner and one search path of Python.
std::string file_name_of(const stdfs::path& runner) {
  const char* python_path = std::getenv("PYTHONPATH");
  const auto key =
      fmt::format("{}\n{}", runner.string(), python_path == nullptr ? "" : python_path);
  return sha256_hex(key) + ".json";
}

}  // namespace

Result<EngineBuild> describe_runner(const stdfs::path& runner, SandboxMode sandbox,
                                    const std::vector<std::string>& reads) {
  ASSAY_ASSIGN_OR_RETURN(auto details, ask(runner, sandbox, reads));
  return build_from_description(runner, std::move(details));
}

Result<EngineBuild> DescriptionCache::describe(const stdfs::path& runner, SandboxMode sandbox,
                                               const std::vector<std::string>& reads) const {
  const auto file = folder_ / file_name_of(runner);
  if (auto kept = find_kept(file, runner)) {
    return *std::move(kept);
  }
  const auto asked = stdfs::file_time_type::clock::now();
  ASSAY_ASSIGN_OR_RETURN(auto details, ask(runner, sandbox, reads));
  const auto stamps = stamps_of(runner, details, asked);
  auto build = build_from_description(runner, std::move(details));
  if (build && stamps) {
    const Json kept{{"schema", kSchema}, {"stamps", *stamps}, {"build", *build}};
    if (const auto written = write_file_atomically(file, kept.dump() + "\n"); !written) {
      log_line(LogLevel::kDebug, written.error().message);  // It is asked again next time.
    }
  }
  return build;
}

}  // namespace assay
