#include "assay/store/stored_conformance.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/conformance.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay {

Result<Run> get_conform_run(ResultStore& store, const std::string& reference) {
  return store.get_run(reference == "latest" ? fmt::format("latest:{}", kConformPurpose)
                                             : reference);
}

Result<ConformReport> read_conform_report(ResultStore& store, const Run& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto attachments, store.attachments_of(run.id));
  std::optional<ConformReport> newest;
  for (const auto& attachment : attachments) {
    if (attachment.kind == kConformReportKind) {
      ASSAY_ASSIGN_OR_RETURN(const auto json, parse_json(attachment.content, "a stored report"));
      newest = json.get<ConformReport>();
    }
  }
  if (!newest) {
    return fail(ErrorCode::kNotFound, fmt::format("run {} has no conformance report; `assay runs "
                                                  "--purpose conform` lists the runs that have one",
                                                  run.id));
  }
  newest->run = run;
  return *std::move(newest);
}

}  // namespace assay
