#include "assay/cli/run_filter_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/cli/labels.h"
#include "assay/cli/verb.h"
#include "assay/store/result_store.h"

namespace assay::cli {
namespace {

/// Verbs make runs, and these purposes are called like none.
Status check_purpose(const std::string& purpose) {
  std::vector<std::string> known = {"measure", "verify"};
  for (const auto& verb : all_verbs()) {
    known.emplace_back(verb.name);
  }
  if (purpose.empty() || std::ranges::find(known, purpose) != known.end()) {
    return {};
  }
  return fail(ErrorCode::kInvalidArgument, fmt::format("--purpose {}: no verb and no purpose{}",
                                                       purpose, suggestion_for(purpose, known)));
}

}  // namespace

void RunFilterFlags::declare(CLI::App& app) {
  app.add_option(
      "filter", texts,
      "Show only runs whose id, name, command, labels or cases contain all of these words");
  declare_flags(app);
}

void RunFilterFlags::declare_flags(CLI::App& app) {
  app.add_option("--label", labels, "Select runs with this label: KEY=VALUE, or KEY for any value");
  app.add_option("--purpose", purpose,
                 "Select runs of this verb (bench, compare, …) or purpose (measure)");
  app.add_option("--model", model, "Select runs of a model whose name contains SUBSTRING");
}

void declare_limit(CLI::App& app, int& limit, const std::string& help) {
  app.add_option("--limit", limit, help)
      ->check(CLI::Validator(
          [](const std::string& text) {
            return text == "-1" || CLI::PositiveNumber(text).empty()
                       ? std::string()
                       : fmt::format("'{}' is no number of runs: give 1 or more, or -1 for all",
                                     text);
          },
          ""))
      ->capture_default_str();
}

Result<RunFilter> RunFilterFlags::filter(int limit) const {
  ASSAY_RETURN_IF_ERROR(check_purpose(purpose));
  ASSAY_ASSIGN_OR_RETURN(auto wanted, label_filter_from_texts(labels));
  return RunFilter{.limit = limit,
                   .made_by = purpose,
                   .labels = std::move(wanted),
                   .model = model,
                   .texts = texts};
}

}  // namespace assay::cli
