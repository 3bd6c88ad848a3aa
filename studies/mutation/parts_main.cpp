// Prints the verdict of a run on each part of its joint programs, one JSON line a case, for
// judge.py.
//
//     assay-mutation-parts STORE RUN
//
// {"options": {…}, "outcome": "completed", "text": "", "accuracies": ["pass", …]}
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/case.h"
#include "assay/record/summary.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

/// Verdicts of the parts in order; empty if the attempt came to none.
Result<Json> accuracies_of(ResultStore& store, const std::string& attempt) {
  Json accuracies = Json::array();
  ASSAY_ASSIGN_OR_RETURN(const auto attachments, store.attachments_of(attempt));
  for (const auto& attachment : attachments) {
    if (attachment.kind != "part_tables") {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const auto json, parse_json(attachment.content, attachment.kind));
    for (const auto& table : json.get<std::vector<AccuracyTable>>()) {
      accuracies.push_back(name_of(table.accuracy));
    }
  }
  return accuracies;
}

Status print_run(const std::string& path, const std::string& reference) {
  ASSAY_ASSIGN_OR_RETURN(const auto store, open_sqlite_store(path));
  ASSAY_ASSIGN_OR_RETURN(const auto run, store->get_run(reference));
  ASSAY_ASSIGN_OR_RETURN(const auto cases, store->cases_of_run(run.id));
  std::map<std::string, Json> options;
  for (const auto& cell : cases) {
    options[case_key(cell)] = cell.options;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto attempts, store->attempts_of_run(run.id));
  for (const auto& attempt : attempts) {
    ASSAY_ASSIGN_OR_RETURN(const auto accuracies, accuracies_of(*store, attempt.id));
    const Json line = {{"options", options[attempt.case_key]},
                       {"outcome", name_of(attempt.outcome)},
                       {"text", attempt.text},
                       {"accuracies", accuracies}};
    fmt::print("{}\n", line.dump());
  }
  return {};
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: assay-mutation-parts STORE RUN\n", stderr);
    return 2;
  }
  try {
    const auto status = assay::print_run(argv[1], argv[2]);
    if (!status) {
      fmt::print(stderr, "assay-mutation-parts: {}\n", status.error().message);
    }
    return status ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "assay-mutation-parts: %s\n", error.what());
    return 4;
  }
}
