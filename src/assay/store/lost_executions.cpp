#include "assay/store/lost_executions.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/job_execution.h"
#include "assay/record/lost_execution.h"
#include "assay/store/result_store.h"

namespace assay {

Status add_lost_execution(ResultStore& store, std::string_view run, const LostExecution& lost) {
  return store.add_attachment({.owner = std::string(run),
                               .kind = std::string(kLostExecutionKind),
                               .content = Json(lost).dump()});
}

Result<std::vector<LostExecution>> lost_executions_of_run(ResultStore& store,
                                                          std::string_view run) {
  ASSAY_ASSIGN_OR_RETURN(const auto executions, store.executions_of_run(run));
  ASSAY_ASSIGN_OR_RETURN(const auto attachments, store.attachments_of(run));
  std::vector<LostExecution> found;
  for (const auto& attachment : attachments) {
    if (attachment.kind != kLostExecutionKind) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const auto document, parse_json(attachment.content, "an execution"));
    auto lost = document.get<LostExecution>();
    const bool came_back = std::ranges::any_of(executions, [&lost](const JobExecution& one) {
      return one.job == lost.job && one.n == lost.n && one.device == lost.device;
    });
    if (!came_back) {
      found.push_back(std::move(lost));
    }
  }
  return found;
}

}  // namespace assay
