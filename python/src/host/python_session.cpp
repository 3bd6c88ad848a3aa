#include "host/python_session.h"

#include "host/arrays.h"
#include "host/python_call.h"

#include <algorithm>
#include <cstdint>
#include <expected>
#include <fmt/format.h>
#include <memory>
#include <nanobind/nanobind.h>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/engine/input_check.h"
#include "assay/engine/session.h"
#include "assay/record/launch.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay::host {

struct PythonSession::Objects {
  explicit Objects(nb::object made)
      : session(std::move(made)),
        bind(session.attr("bind")),
        execute(session.attr("execute")),
        fetch(session.attr("fetch")) {}

  nb::object session;
  // Bound once: looking a method up costs as much as calling it.
  nb::object bind;
  nb::object execute;
  nb::object fetch;
  nb::object collect = nb::module_::import_("gc").attr("collect");
  nb::list inputs;
  std::vector<Array> outputs;
};

PythonSession::PythonSession(nb::object session, LoadReport report)
    : report_(std::move(report)), objects_(std::make_unique<Objects>(std::move(session))) {}

PythonSession::~PythonSession() {
  [[maybe_unused]] const auto status = with_python([this] {
    objects_.reset();
    nb::module_::import_("gc").attr("collect")();
  });
}

bool PythonSession::is_bound(std::span<const TensorView> inputs) const {
  return std::ranges::equal(inputs, bound_, [](const TensorView& a, const TensorView& b) {
    return a.data.data() == b.data.data() && a.dtype == b.dtype && a.shape == b.shape;
  });
}

Status PythonSession::make_arrays(std::span<const TensorView> inputs) {
  ASSAY_RETURN_IF_ERROR(check_inputs(inputs, report_.inputs));
  // An engine may refuse to take other sizes while somebody looks at its output memory.
  outputs_.clear();
  objects_->outputs.clear();
  objects_->inputs = nb::list();
  for (const auto& input : inputs) {
    objects_->inputs.append(array_from(input));
  }
  bound_.assign(inputs.begin(), inputs.end());
  return {};
}

Status PythonSession::bind(std::span<const TensorView> inputs) {
  Status checked;
  const auto called = with_python([&] {
    if (!is_bound(inputs) || bound_.size() != report_.inputs.size()) [[unlikely]] {
      checked = make_arrays(inputs);
    }
    if (checked) [[likely]] {
      objects_->bind(objects_->inputs);
    }
  });
  return checked ? called : checked;
}

Status PythonSession::execute() {
  return with_python([this] {
    // An engine may refuse to run while somebody looks at its output memory.
    outputs_.clear();
    objects_->outputs.clear();
    objects_->execute();
  });
}

Result<std::span<const TensorView>> PythonSession::fetch() {
  Status viewed;
  const auto called = with_python([&] {
    const nb::object arrays = objects_->fetch();
    for (const nb::handle output : arrays) {
      const auto index = outputs_.size();
      auto& array = objects_->outputs.emplace_back();
      if (!nb::try_cast(output, array)) {
        viewed = fail(ErrorCode::kEngine,
                      fmt::format("output {} is no array in the CPU's memory", index));
        return;
      }
      const auto declared =
          index < report_.outputs.size() ? report_.outputs[index].dtype : Dtype::kFloat32;
      auto view = view_of(array, declared);
      if (!view) {
        viewed = std::unexpected(std::move(view).error());
        return;
      }
      outputs_.push_back(*std::move(view));
    }
  });
  ASSAY_RETURN_IF_ERROR(called);
  ASSAY_RETURN_IF_ERROR(viewed);
  return outputs_;
}

Status PythonSession::reset_state() {
  Status supported;
  const auto called = with_python([&] {
    if (nb::hasattr(objects_->session, "reset_state")) {
      objects_->session.attr("reset_state")();
    } else {
      supported = fail(ErrorCode::kUnsupported, "this engine keeps no state that it could reset");
    }
  });
  return supported ? called : supported;
}

void* PythonSession::find_extension(std::string_view tag) {
  const auto has = [this](const char* method) {
    return with_python([&] { return nb::hasattr(objects_->session, method); }).value_or(false);
  };
  if (tag == Profiler::kTag && has("start_profile")) {
    return static_cast<Profiler*>(this);
  }
  if (tag == Upkeep::kTag) {
    return static_cast<Upkeep*>(this);
  }
  return tag == MemoryReporter::kTag && has("declared_memory") ? static_cast<MemoryReporter*>(this)
                                                               : nullptr;
}

Status PythonSession::start() {
  return with_python([this] { objects_->session.attr("start_profile")(); });
}

Result<ProfileReport> PythonSession::stop(int iterations) {
  return with_python([&] {
    const nb::object told = objects_->session.attr("stop_profile")(iterations);
    auto report = json_from(told).get<ProfileReport>();
    report.iterations = iterations;
    return report;
  });
}

std::vector<NamedBytes> PythonSession::declared_memory() {
  const auto told = with_python([this] {
    const Json declared = json_from(objects_->session.attr("declared_memory")());
    std::vector<NamedBytes> memory;
    for (const auto& [name, bytes] : declared.items()) {
      memory.push_back({.name = name, .bytes = bytes.get<std::int64_t>()});
    }
    return memory;
  });
  return told.value_or(std::vector<NamedBytes>());
}

/// Garbage of an inference is young; what was in use meanwhile is found by a later, larger
/// collection. The largest looks at all that the engine and the program consist of.
void PythonSession::clear_up() {
  constexpr std::int64_t kYoung = 64;
  constexpr std::int64_t kMiddle = 16 * kYoung;
  constexpr std::int64_t kAll = 64 * kMiddle;
  if (++inferences_ % kYoung == 0) {
    const int generation = inferences_ % kAll == 0 ? 2 : inferences_ % kMiddle == 0 ? 1 : 0;
    [[maybe_unused]] const auto called =
        with_python([this, generation] { objects_->collect(generation); });
  }
}

}  // namespace assay::host
