#include "assay/engines/fake/fake_session.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/engine/input_check.h"
#include "assay/engine/session.h"
#include "assay/engines/fake/fake_program.h"
#include "assay/engines/fake/misbehavior.h"
#include "assay/engines/fake/work.h"
#include "assay/record/launch.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay::fake {
namespace {

/// Calls `use` with a value of the C++ type behind `dtype`.
template <class Use>
auto with_type(Dtype dtype, Use use) {
  switch (dtype) {
    case Dtype::kFloat64:
      return use(double{});
    case Dtype::kFloat32:
      return use(float{});
    case Dtype::kInt64:
      return use(std::int64_t{});
    case Dtype::kInt32:
      return use(std::int32_t{});
    case Dtype::kInt16:
      return use(std::int16_t{});
    case Dtype::kInt8:
      return use(std::int8_t{});
    case Dtype::kUInt64:
      return use(std::uint64_t{});
    case Dtype::kUInt32:
      return use(std::uint32_t{});
    case Dtype::kUInt16:
      return use(std::uint16_t{});
    case Dtype::kBool:
      return use(bool{});
    default:
      return use(std::uint8_t{});
  }
}

double load_element(const Tensor& tensor, std::size_t index) {
  return with_type(tensor.dtype, [&]<class T>(T value) {
    std::memcpy(&value, tensor.data.data() + index * sizeof(T), sizeof(T));
    return static_cast<double>(value);
  });
}

void store_element(Tensor& tensor, std::size_t index, double number) {
  with_type(tensor.dtype, [&]<class T>(T value) {
    value = static_cast<T>(number);
    std::memcpy(tensor.data.data() + index * sizeof(T), &value, sizeof(T));
  });
}

std::vector<Tensor> zeros_for(const std::vector<TensorSpec>& specs) {
  std::vector<Tensor> tensors;
  tensors.reserve(specs.size());
  for (const auto& spec : specs) {
    tensors.push_back(Tensor::zeros(spec.dtype, spec.shape));
  }
  return tensors;
}

/// Kept reachable for ever, so that leak checkers stay quiet about what is on purpose; touched, so
/// that it shows in the resident set.
void leak(std::int64_t bytes) {
  static auto* const lost = new std::vector<std::unique_ptr<std::vector<char>>>();
  lost->push_back(std::make_unique<std::vector<char>>(static_cast<std::size_t>(bytes), 'x'));
}

ProfileEvent event_of(std::string name, std::string kind, int instruction,
                      const std::vector<ProfiledInference>& profiled, std::int64_t parts) {
  ProfileEvent event{.name = std::move(name), .kind = std::move(kind), .instruction = instruction};
  std::vector<std::int64_t> times;
  for (const auto& inference : profiled) {
    times.push_back(inference.times.execute_ns / parts);
    event.total_ns += times.back();
  }
  event.count = static_cast<std::int64_t>(times.size());
  if (!times.empty()) {
    std::ranges::sort(times);
    event.min_ns = times.front();
    event.median_ns = times[times.size() / 2];
  }
  return event;
}

/// The method, then its delegates one after the other, each of the same length.
void add_spans(const std::vector<ProfiledInference>& profiled, ProfileReport& report) {
  const auto delegates = static_cast<int>(report.events.size()) - 1;
  int iteration = 0;
  for (const auto& inference : profiled) {
    if (iteration >= Profiler::kMostSpanIterations ||
        static_cast<int>(report.spans.size()) + delegates >= Profiler::kMostSpans) {
      return;
    }
    const auto all_ns = inference.times.execute_ns;
    report.spans.push_back(
        {.iteration = iteration, .start_ns = inference.start_ns, .duration_ns = all_ns});
    for (int i = 0; i < delegates; ++i) {
      report.spans.push_back({.event = i + 1,
                              .iteration = iteration,
                              .start_ns = inference.start_ns + i * (all_ns / delegates),
                              .duration_ns = all_ns / delegates});
    }
    ++iteration;
  }
}

/// Applies a fault to an element, by its place among `count`.
double damaged(Fault fault, double value, std::size_t place, std::size_t count) {
  switch (fault) {
    case Fault::kZero:
      return 0;
    case Fault::kNanToZero:
      return std::isnan(value) ? 0 : value;
    case Fault::kOneElement:
      return place + 1 == count ? value + 1 : value;
    case Fault::kNegated:
      return -value;
    case Fault::kStale:
    case Fault::kSwapped:
      break;
  }
  return value;
}

void damage(Fault fault, Tensor& output) {
  const std::size_t count = output.data.size() / size_of_dtype(output.dtype);
  if (fault == Fault::kSwapped && count > 1) {
    const double first = load_element(output, 0);
    store_element(output, 0, load_element(output, 1));
    store_element(output, 1, first);
  }
  for (std::size_t i = 0; i < count; ++i) {
    store_element(output, i, damaged(fault, load_element(output, i), i, count));
  }
}

}  // namespace

FakeSession::FakeSession(FakeProgram program, LoadReport report, int slowdown)
    : program_(std::move(program)),
      report_(std::move(report)),
      execute_ns_(program_.execute_ns * slowdown),
      work_(program_.multiply_adds * slowdown, program_.stream_bytes),
      helpers_(program_.helpers, program_.helper_ns),
      inputs_(zeros_for(program_.inputs)),
      outputs_(zeros_for(program_.outputs)),
      random_(static_cast<std::minstd_rand::result_type>(monotonic_ns())) {
  if (program_.leak_load_bytes > 0) {
    leak(program_.leak_load_bytes);
  }
  for (const auto& output : outputs_) {
    output_views_.push_back(output.view());
  }
}

// Actions that throw are left out.
// NOLINTNEXTLINE(bugprone-exception-escape)
FakeSession::~FakeSession() {
  if (program_.misbehavior.at == Moment::kUnload && program_.misbehavior.deed != Deed::kThrow) {
    [[maybe_unused]] const auto status = misbehave(program_.misbehavior);
  }
}

Status FakeSession::bind(std::span<const TensorView> inputs) {
  ASSAY_RETURN_IF_ERROR(check_inputs(inputs, program_.inputs));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::ranges::copy(inputs[i].data, inputs_[i].data.begin());
  }
  return {};
}

Status FakeSession::misbehave_if_due() {
  const auto& misbehavior = program_.misbehavior;
  const bool is_first = misbehavior.at == Moment::kFirst && executes_ == 0;
  const bool is_steady =
      misbehavior.at == Moment::kSteady && executes_ >= std::max(1, misbehavior.after);
  return is_first || is_steady ? misbehave(misbehavior) : Status{};
}

std::int64_t FakeSession::warmup_work() const {
  const auto& [planned, ratio] = std::tie(program_.warmup_executes, program_.warmup_ratio);
  if (executes_ == 0 || executes_ > planned) {
    return 0;
  }
  const double left = static_cast<double>(planned + 1 - executes_) / static_cast<double>(planned);
  return static_cast<std::int64_t>(static_cast<double>(program_.multiply_adds) * ratio * left);
}

Status FakeSession::execute() {
  if (program_.misbehavior.at != Moment::kNever) [[unlikely]] {
    ASSAY_RETURN_IF_ERROR(misbehave_if_due());
  }
  const std::int64_t start_ns = is_profiling_ ? monotonic_ns() : 0;
  const auto before = program_.faults.empty() ? std::vector<Tensor>() : outputs_;
  for (auto& output : outputs_) {
    compute(output);
  }
  apply_faults(before);
  work_.run(warmup_work());
  spin_for(execute_ns_);
  if (program_.leak_bytes > 0) {
    leak(program_.leak_bytes);
  }
  ++executes_;
  if (is_profiling_) {
    profiled_.push_back({.start_ns = start_ns, .times = {.execute_ns = monotonic_ns() - start_ns}});
  }
  return {};
}

void FakeSession::compute(Tensor& output) {
  const std::size_t count = output.data.size() / size_of_dtype(output.dtype);
  const Tensor* input =
      inputs_.empty() || inputs_.front().data.empty() ? nullptr : &inputs_.front();
  const std::size_t cycle = input == nullptr ? 1 : input->data.size() / size_of_dtype(input->dtype);
  for (std::size_t i = 0; i < count; ++i) {
    double value = program_.b;
    if (program_.rule == Rule::kAffine && input != nullptr) {
      value += program_.a * load_element(*input, i % cycle);
    } else if (program_.rule == Rule::kRandom) {
      value += static_cast<double>(random_() % 1000) / 100;
    }
    store_element(output, i, value + program_.wrong);
  }
}

/// `before`: the outputs of the execute before this one.
void FakeSession::apply_faults(const std::vector<Tensor>& before) {
  for (const auto& [index, fault] : program_.faults) {
    if (fault == Fault::kStale && executes_ > 0) {
      std::ranges::copy(before[index].data, outputs_[index].data.begin());
    } else if (fault != Fault::kStale) {
      damage(fault, outputs_[index]);
    }
  }
}

Result<std::span<const TensorView>> FakeSession::fetch() {
  const auto& misbehavior = program_.misbehavior;
  if (misbehavior.at == Moment::kFetch && executes_ > misbehavior.after) [[unlikely]] {
    ASSAY_RETURN_IF_ERROR(misbehave(misbehavior));
  }
  return std::span<const TensorView>(output_views_);
}

Status FakeSession::reset_state() {
  executes_ = 0;
  return {};
}

void* FakeSession::find_extension(std::string_view tag) {
  if (tag == Profiler::kTag) {
    return static_cast<Profiler*>(this);
  }
  return tag == MemoryReporter::kTag ? static_cast<MemoryReporter*>(this) : nullptr;
}

Status FakeSession::start() {
  is_profiling_ = true;
  profiled_.clear();
  return {};
}

Result<ProfileReport> FakeSession::stop(int iterations) {
  is_profiling_ = false;
  ProfileReport report{.iterations = iterations};
  report.events.push_back(event_of("execute", "method", -1, profiled_, 1));
  report.method_median_ns = report.events.front().median_ns;
  const auto delegates = static_cast<int>(program_.delegates.size());
  for (int i = 0; i < delegates; ++i) {
    report.events.push_back(event_of(program_.delegates[static_cast<std::size_t>(i)], "delegate", i,
                                     profiled_, delegates));
  }
  add_spans(profiled_, report);
  report.notes.emplace_back("the fake engine shares the method's time equally among its delegates");
  return report;
}

}  // namespace assay::fake
