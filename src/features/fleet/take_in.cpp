#include "features/fleet/run_on_fleet.h"

#include <filesystem>
#include <fmt/format.h>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/job_execution.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

Result<std::vector<JobExecution>> executions_in(const std::filesystem::path& part) {
  ASSAY_ASSIGN_OR_RETURN(const auto store, open_sqlite_store(part, StoreAccess::kRead));
  ASSAY_ASSIGN_OR_RETURN(auto executions, store->executions_of_run({}));
  if (executions.empty()) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("'{}' is a store, but no part of a run", part.string()));
  }
  return executions;
}

}  // namespace

Result<std::vector<JobExecution>> take_in_part(const std::filesystem::path& part,
                                               ResultStore& store) {
  ASSAY_ASSIGN_OR_RETURN(auto executions, executions_in(part));
  ASSAY_ASSIGN_OR_RETURN([[maybe_unused]] const auto rows, store.merge_from(part.string()));
  for (auto& execution : executions) {
    ASSAY_ASSIGN_OR_RETURN(execution.is_counted, store.accept_execution(execution.id));
  }
  return executions;
}

}  // namespace assay
