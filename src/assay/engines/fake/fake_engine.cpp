#include "assay/engines/fake/fake_engine.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/engine/engine.h"
#include "assay/engine/session.h"
#include "assay/engines/fake/fake_program.h"
#include "assay/engines/fake/fake_session.h"
#include "assay/engines/fake/lies.h"
#include "assay/engines/fake/misbehavior.h"
#include "assay/engines/fake/work.h"
#include "assay/record/launch.h"

namespace assay::fake {
namespace {

constexpr int kEffectiveThreads = 4;
constexpr int kSlowdown = 10;

std::vector<OptionSchema> option_schema() {
  auto threads = threads_option("Threads it claims to use; at most 4 take effect.");
  threads.default_value = 1;
  return {
      threads,
      {.name = "mode",
       .type = "string",
       .values = {"fast", "slow"},
       .default_value = "fast",
       .scope = "load",
       .description = "slow: ten times the execute time."},
  };
}

Result<Json> effective_options(const Json& requested) {
  ASSAY_ASSIGN_OR_RETURN(Json options, validate_options(requested, option_schema()));
  options["threads"] = std::min(options["threads"].get<int>(), kEffectiveThreads);
  return options;
}

Status check_request(const LoadRequest& request) {
  if (request.method != "forward") {
    return fail(ErrorCode::kNotFound,
                fmt::format("no method '{}'; the program has: forward", request.method));
  }
  if (!request.libraries.empty()) {
    return fail(ErrorCode::kUnsupported, "the fake engine loads no libraries");
  }
  return {};
}

}  // namespace

Result<EngineDescription> FakeEngine::describe() {
  if (const char* order = std::getenv("ASSAY_FAKE_DESCRIBE"); order != nullptr) {
    ASSAY_ASSIGN_OR_RETURN(const Json json, parse_json(order, "ASSAY_FAKE_DESCRIBE"));
    ASSAY_ASSIGN_OR_RETURN(const auto misbehavior, misbehavior_from_json(json));
    ASSAY_RETURN_IF_ERROR(misbehave(misbehavior));
  }
  return EngineDescription{.name = "fake",
                           .version = "1",
                           .build_id = "fake-1",
                           .formats = {"fake"},
                           .options = option_schema(),
                           .backends = {{.name = "fakexla", .is_available = true},
                                        {.name = "fakenpu",
                                         .is_available = false,
                                         .reason = "it exists only to be missing"}},
                           .tags = {std::string(Profiler::kTag), std::string(MemoryReporter::kTag)},
                           .notes = {"times and results of this engine mean nothing"}};
}

Result<std::unique_ptr<Session>> FakeEngine::load(const LoadRequest& request) {
  ASSAY_RETURN_IF_ERROR(check_request(request));
  LoadReport report;
  ASSAY_ASSIGN_OR_RETURN(report.effective_options, effective_options(request.options));
  const std::int64_t start_ns = monotonic_ns();
  ASSAY_ASSIGN_OR_RETURN(FakeProgram program, read_fake_program(request.entry));
  const std::int64_t read_ns = monotonic_ns();
  if (!program.lies.empty() && !liar_) {
    ASSAY_ASSIGN_OR_RETURN(liar_, Liar::start(program.lies));
  }
  if (program.misbehavior.at == Moment::kLoad) {
    ASSAY_RETURN_IF_ERROR(misbehave(program.misbehavior));
  }
  if (std::ranges::find(program.delegates, "fakenpu") != program.delegates.end()) {
    return fail(ErrorCode::kUnavailable,
                "the program needs backend 'fakenpu', which is not available; available: fakexla");
  }
  spin_for(program.load_ns);
  report.stages = {{"program", read_ns - start_ns}, {"method", monotonic_ns() - read_ns}};
  report.inputs = program.inputs;
  report.outputs = program.outputs;
  report.declared_memory = program.declared_memory;
  report.backends = program.delegates;
  report.emulator = program.emulator;
  const int slowdown = report.effective_options["mode"] == "slow" ? kSlowdown : 1;
  return std::make_unique<FakeSession>(std::move(program), std::move(report), slowdown);
}

}  // namespace assay::fake
