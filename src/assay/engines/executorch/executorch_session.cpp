#include "assay/engines/executorch/executorch_session.h"

#include <algorithm>
#include <cstdlib>
#include <executorch/devtools/etdump/etdump_flatcc.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay::et {
namespace {

constexpr std::string_view kXnnpack = "XnnpackBackend";

void note_limits(ProfileReport& report, const std::vector<std::string>& backends) {
  const bool has_delegate_operators = std::ranges::find(report.events, "delegate_operator",
                                                        &ProfileEvent::kind) != report.events.end();
  if (has_delegate_operators && std::ranges::find(backends, kXnnpack) != backends.end()) {
    report.notes.emplace_back(
        "XNNPACK tells its operators in whole microseconds, rounded down: what that cuts off is in "
        "the rest of its delegate");
  }
  if (backends.size() > 1) {
    report.notes.emplace_back(
        "delegate calls carry no name: with several backends they are not told apart");
  }
}

}  // namespace

ExecutorchSession::ExecutorchSession(Parts parts)
    : parts_(std::move(parts)), active_(parts_.method.get()) {}

Status ExecutorchSession::bind(std::span<const TensorView> inputs) {
  last_inputs_ = inputs;
  return active_->bind(inputs);
}

Result<std::unique_ptr<LoadedMethod>> ExecutorchSession::load_method(
    ::executorch::runtime::EventTracer* tracer) {
  return LoadedMethod::load(*parts_.program, parts_.method_name, parts_.report.inputs,
                            parts_.report.outputs, tracer);
}

Status ExecutorchSession::reset_state() {
  traced_method_.reset();
  // One that fails to load again leaves the session as it was.
  ASSAY_ASSIGN_OR_RETURN(auto fresh, load_method(nullptr));
  parts_.method = std::move(fresh);
  active_ = parts_.method.get();
  return {};
}

void* ExecutorchSession::find_extension(std::string_view tag) {
  if (tag == Profiler::kTag) {
    return static_cast<Profiler*>(this);
  }
  return tag == MemoryReporter::kTag ? static_cast<MemoryReporter*>(this) : nullptr;
}

Status ExecutorchSession::start() {
  if (traced_method_ == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(traced_method_, load_method(&tracer_));
  }
  active_ = traced_method_.get();
  tracer_.start();
  return {};
}

Result<ProfileReport> ExecutorchSession::stop(int iterations) {
  active_ = parts_.method.get();
  const auto& backends = parts_.report.backends;
  auto report = tracer_.finish(
      iterations, backends.empty() ? "delegate" : fmt::format("{}", fmt::join(backends, "|")));
  note_limits(report, backends);
  if (!parts_.etdump.empty() && !last_inputs_.empty()) {
    ASSAY_RETURN_IF_ERROR(write_etdump());
    report.notes.push_back(fmt::format("ETDump of one inference: {}", parts_.etdump.string()));
  }
  return report;
}

Status ExecutorchSession::write_etdump() {
  ::executorch::etdump::ETDumpGen dump;
  ASSAY_ASSIGN_OR_RETURN(const auto method, load_method(&dump));
  ASSAY_RETURN_IF_ERROR(method->bind(last_inputs_));
  ASSAY_RETURN_IF_ERROR(method->execute());
  const auto result = dump.get_etdump_data();
  if (result.buf == nullptr) {
    return fail(ErrorCode::kEngine, "the runtime made no ETDump");
  }
  const Status written =
      write_file_atomically(parts_.etdump, {static_cast<const char*>(result.buf), result.size});
  std::free(result.buf);
  return written;
}

std::vector<NamedBytes> ExecutorchSession::declared_memory() {
  auto declared = parts_.method->memory();
  declared.push_back({"program_and_constants", parts_.program->heap_bytes()});
  return declared;
}

}  // namespace assay::et
