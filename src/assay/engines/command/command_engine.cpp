#include "assay/engines/command/command_engine.h"

#include <fmt/format.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/json.h"
#include "assay/base/md5.h"
#include "assay/base/result.h"
#include "assay/engine/engine.h"
#include "assay/engine/program_places.h"
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

Status check_program(const CommandProgram& program, int threads) {
  if (!program.unsupported.empty()) {
    return fail(ErrorCode::kUnsupported, program.unsupported);
  }
  if (threads > 0 && !program.has_placeholder("{threads}")) {
    return fail(ErrorCode::kUnsupported,
                "the command takes no threads: {threads} is not among its arguments");
  }
  return {};
}

/// Each place is known, and its file has the content that it must have.
Status check_places(const CommandProgram& program,
                    const std::map<std::string, std::string>& places) {
  for (const auto& [name, place] : program.places) {
    const auto found = places.find(name);
    if (found == places.end()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("nothing says where '{}' lies: the file .places.json beside the "
                              "program has its path",
                              name));
    }
    if (place.md5.empty()) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const auto md5, md5_hex_of_file(found->second));
    if (md5 != place.md5) {
      return fail(ErrorCode::kCorrupt, fmt::format("{} ({}) has the md5 {}, and must have {}", name,
                                                   found->second, md5, place.md5));
    }
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
  SessionSettings settings{.threads = options.value("threads", 0),
                           .build = identity_.build ? &*identity_.build : nullptr};
  ASSAY_RETURN_IF_ERROR(check_program(program, settings.threads));
  ASSAY_ASSIGN_OR_RETURN(settings.places, read_program_places(request.entry));
  ASSAY_RETURN_IF_ERROR(check_places(program, settings.places));
  LoadReport report{.stages = {{"program", monotonic_ns() - start_ns}},
                    .effective_options = std::move(options),
                    .inputs = program.inputs,
                    .outputs = program.outputs,
                    .notes = {"the command times itself, by its own definition of an inference; "
                              "what it takes to load is not told"}};
  for (const auto& [name, path] : settings.places) {
    report.notes.push_back(fmt::format("{} is {}", name, path));
  }
  ASSAY_ASSIGN_OR_RETURN(auto session,
                         CommandSession::open(std::move(program), std::move(report), settings));
  return std::unique_ptr<Session>(std::move(session));
}

}  // namespace assay::command
