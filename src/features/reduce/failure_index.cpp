#include "features/reduce/failure_index.h"

#include "features/reduce/bundle.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/conformance.h"

namespace assay {
namespace {

constexpr auto* kIndexSchema = "assay/reductions/1";

/// A name as one component of a path.
std::string component_of(std::string name) {
  std::ranges::replace(name, '/', '-');
  std::ranges::replace(name, ' ', '_');
  return name;
}

std::string words_of_confirmation(std::optional<bool> is_confirmed) {
  if (!is_confirmed) {
    return "not judged once more; ";
  }
  return *is_confirmed ? "" : "comes and goes; ";
}

/// Describes the outcome in a few words.
std::string outcome_of(const ReducedFailure& failure) {
  if (!failure.report) {
    return "not reduced: " + failure.error;
  }
  const auto& report = *failure.report;
  return fmt::format("{} steps, {}{}", report.reduction.steps.size(),
                     words_of_confirmation(report.is_confirmed), report.script);
}

Json json_of(const ReducedFailure& failure) {
  const auto& result = *failure.group.smallest;
  Json json = {{"case", result.name},       {"recipe", result.recipe},
               {"engine", result.engine},   {"options", result.options},
               {"verdict", result.verdict}, {"cases", failure.group.cases},
               {"folder", failure.folder}};
  if (failure.report) {
    const auto& confirmed = failure.report->is_confirmed;
    json["is_confirmed"] = confirmed;
    json["is_shown"] = failure.report->is_shown;
    json["command"] = failure.report->command;
  } else {
    json["error"] = failure.error;
  }
  return json;
}

std::string index_readme(const std::string& run, const std::vector<ReducedFailure>& failures) {
  auto text =
      fmt::format("# Failures of run {}, each reduced\n\n{}.\n", run, totals_of_failures(failures));
  std::string recipe;
  for (const auto& failure : failures) {
    const auto& result = *failure.group.smallest;
    if (result.recipe != recipe) {
      recipe = result.recipe;
      text += fmt::format("\n## {}\n\n", recipe);
    }
    text +=
        fmt::format("- [{}]({}/README.md), `{}`, {} of its kind: {}\n", result.name, failure.folder,
                    name_of(result.verdict), failure.group.cases, outcome_of(failure));
  }
  return text;
}

}  // namespace

std::string folder_of_failure(const ConformResult& result) {
  auto setting = component_of(result.recipe);
  for (const auto& part : {result.engine, result.options}) {
    setting += part.empty() ? "" : "-" + component_of(part);
  }
  return fmt::format("{}/{}-{}", setting, component_of(result.name), name_of(result.verdict));
}

std::string line_of_failure(const ReducedFailure& failure) {
  const auto& result = *failure.group.smallest;
  return fmt::format("{} {}, {}, {} of its kind: {}", result.recipe, result.name,
                     name_of(result.verdict), failure.group.cases, outcome_of(failure));
}

std::string totals_of_failures(const std::vector<ReducedFailure>& failures) {
  const auto count = [&failures](auto is_so) {
    return std::ranges::count_if(failures, [&is_so](const ReducedFailure& failure) {
      return failure.report && is_so(*failure.report);
    });
  };
  std::size_t cases = 0;
  for (const auto& failure : failures) {
    cases += failure.group.cases;
  }
  return fmt::format(
      "{} failures in {} results: {} reduced, {} confirmed in processes of their own, {} shown by "
      "a script without Assay",
      failures.size(), cases, count([](const ReductionReport&) { return true; }),
      count([](const ReductionReport& report) { return report.is_confirmed == true; }),
      count([](const ReductionReport& report) { return report.is_shown; }));
}

Json document_of_failures(const std::string& run, const std::vector<ReducedFailure>& failures) {
  Json list = Json::array();
  for (const auto& failure : failures) {
    list.push_back(json_of(failure));
  }
  return {{"schema", kIndexSchema}, {"run", run}, {"failures", std::move(list)}};
}

Status write_failure_index(const std::filesystem::path& folder, const std::string& run,
                           const std::vector<ReducedFailure>& failures) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto text = text_of_document(document_of_failures(run, failures));
  ASSAY_RETURN_IF_ERROR(write_file_atomically(folder / "failures.json", text + "\n"));
  return write_file_atomically(folder / "README.md", index_readme(run, failures));
}

}  // namespace assay
