#pragma once

#include "features/fleet/executor.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

/// An executor with what the user wrote about it in devices.json: docs/contracts/fleet.md.
struct ConfiguredExecutor {
  std::string name;
  std::string kind;            ///< "command", "postgres" or "ray".
  std::string artifact_store;  ///< A text for open_artifact_store().
  std::int64_t job_deadline_ns = 0;
  std::shared_ptr<Executor> executor;
};

/// True if `assay work --executor` serves executors of a kind; others start jobs by themselves.
bool has_workers(std::string_view kind);

/// Opens the executor of an entry. `python`: with the Assay package, for those that need it.
/// Errors: kInvalidArgument, naming the key; kUnavailable where its scheduler cannot be reached.
Result<ConfiguredExecutor> open_executor(const std::string& name, const Json& entry,
                                         const std::filesystem::path& python);

}  // namespace assay
