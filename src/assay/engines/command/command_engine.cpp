#include "assay/engines/command/command_engine.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/engine/engine.h"
#include "assay/engine/session.h"
#include "assay/engines/command/command_program.h"
#include "assay/engines/command/command_session.h"
#include "assay/record/launch.h"

namespace assay::command {
namespace {

std::vector<OptionSchema> option_schema() {
  return {threads_option("What {threads} in the command becomes.")};
}

Status check_request(const LoadRequest& request) {
  if (request.method != "forward") {
    return fail(ErrorCode::kNotFound, "no method '" + request.method + "': a command has one");
  }
  if (!request.libraries.empty()) {
    return fail(ErrorCode::kUnsupported, "a command loads no libraries");
  }
  return {};
}

}  // namespace

Result<EngineDescription> CommandEngine::describe() {
  EngineDescription description{
      .name = identity_.name,
      .version = identity_.version,
      .build_id = identity_.name + "-" + identity_.version,
      .formats = {"command"},
      .options = option_schema(),
      .tags = {std::string(SelfTimer::kTag), std::string(SelfProfiler::kTag)},
      .notes = {"times are those that the command prints; memory is the runner's, not its own"}};
  if (identity_.build) {
    const auto& folder = identity_.build->folder;
    description.depends_on = {(folder / "build.json").string()};
    description.reads = {folder.string()};
  }
  return description;
}

Result<std::unique_ptr<Session>> CommandEngine::load(const LoadRequest& request) {
  ASSAY_RETURN_IF_ERROR(check_request(request));
  ASSAY_ASSIGN_OR_RETURN(Json options, validate_options(request.options, option_schema()));
  const auto start_ns = monotonic_ns();
  ASSAY_ASSIGN_OR_RETURN(auto program, read_command_program(request.entry));
  const int threads = options.value("threads", 0);
  if (threads > 0 && !program.has_placeholder("{threads}")) {
    return fail(ErrorCode::kUnsupported,
                "the command takes no threads: {threads} is not among its arguments");
  }
  LoadReport report{.stages = {{"program", monotonic_ns() - start_ns}},
                    .effective_options = std::move(options),
                    .inputs = program.inputs,
                    .outputs = program.outputs,
                    .notes = {"the command times itself, by its own definition of an inference; "
                              "what it takes to load is not told"}};
  ASSAY_ASSIGN_OR_RETURN(auto session,
                         CommandSession::open(std::move(program), std::move(report), threads,
                                              identity_.build ? &*identity_.build : nullptr));
  return std::unique_ptr<Session>(std::move(session));
}

}  // namespace assay::command
