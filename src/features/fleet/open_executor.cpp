#include "features/fleet/open_executor.h"

#include "features/fleet/command_executor.h"
#include "features/fleet/executor.h"
#include "features/fleet/process_executor.h"

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/units.h"

namespace assay {
namespace {

constexpr const char* kCommandKind = "command";

/// Kinds whose schedulers have a client in Python: assay.fleet.KIND.
constexpr auto kPythonKinds = std::to_array<std::string_view>({"postgres", "ray"});

Result<std::shared_ptr<Executor>> executor_of_kind(const std::string& kind, const Json& entry,
                                                   const std::filesystem::path& python) {
  if (kind == kCommandKind) {
    ASSAY_ASSIGN_OR_RETURN(auto options, command_options_from_json(entry));
    return std::shared_ptr<Executor>(make_command_executor(std::move(options)));
  }
  if (has_workers(kind)) {
    ASSAY_ASSIGN_OR_RETURN(auto executor, open_process_executor(kind, entry, python));
    return std::shared_ptr<Executor>(std::move(executor));
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("\"kind\" is '{}'; write command, postgres or ray", kind));
}

Result<ConfiguredExecutor> executor_from_entry(const std::string& name, const Json& entry,
                                               const std::filesystem::path& python) {
  ConfiguredExecutor configured{.name = name,
                                .kind = entry.value("kind", ""),
                                .artifact_store = entry.value("artifacts", "")};
  if (configured.artifact_store.empty() && configured.kind == kCommandKind) {
    configured.artifact_store =
        (std::filesystem::path(entry.value("folder", "")) / "artifacts").string();
  }
  if (configured.artifact_store.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "\"artifacts\" must say where files are kept for the devices: an absolute folder "
                "that all hosts see, or s3://BUCKET/PREFIX");
  }
  if (entry.contains("job_deadline")) {
    ASSAY_ASSIGN_OR_RETURN(configured.job_deadline_ns,
                           duration_ns_from_text(entry.at("job_deadline").get<std::string>()));
  }
  ASSAY_ASSIGN_OR_RETURN(configured.executor, executor_of_kind(configured.kind, entry, python));
  return configured;
}

}  // namespace

bool has_workers(std::string_view kind) {
  return std::ranges::find(kPythonKinds, kind) != kPythonKinds.end();
}

Result<ConfiguredExecutor> open_executor(const std::string& name, const Json& entry,
                                         const std::filesystem::path& python) {
  try {
    auto configured = executor_from_entry(name, entry, python);
    if (!configured) {
      return fail_with_context(std::move(configured).error(), fmt::format("executor '{}'", name));
    }
    return configured;
  } catch (const std::exception& error) {  // A value of a wrong type.
    return fail(ErrorCode::kInvalidArgument, fmt::format("executor '{}': {}", name, error.what()));
  }
}

}  // namespace assay
