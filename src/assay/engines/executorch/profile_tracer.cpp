#include "assay/engines/executorch/profile_tracer.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <executorch/runtime/platform/platform.h>
#include <fmt/format.h>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/engine/session.h"
#include "assay/record/launch.h"

namespace assay::et {
namespace {

using ::executorch::runtime::EventTracerEntry;

constexpr std::int64_t kIgnored = -1;
constexpr std::string_view kMethod = "Method::execute";
constexpr std::string_view kOperator = "OPERATOR_CALL";
constexpr std::string_view kDelegate = "DELEGATE_CALL";
constexpr std::string_view kKernelPrefix = "native_call_";
constexpr std::size_t kLongestWord = 40;
constexpr std::size_t kReservedEvents = std::size_t{1} << 16;

EventTracerEntry entry_of(std::int64_t id) {
  EventTracerEntry entry{};
  entry.event_id = id;
  return entry;
}

/// Word that a delegate attaches to an event, such as "conv2d"; empty if it is none.
std::string_view word_of(const void* metadata, std::size_t length) {
  if (metadata == nullptr || length == 0 || length > kLongestWord) {
    return {};
  }
  const std::string_view text(static_cast<const char*>(metadata), length);
  const bool is_word = std::ranges::all_of(
      text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
  return is_word ? text : std::string_view();
}

std::string name_of_delegate_event(const char* name,
                                   ::executorch::runtime::DelegateDebugIntId number) {
  return name != nullptr ? name : fmt::format("#{}", number);
}

/// "method", "operator", "delegate" or "delegate_operator"; empty for what is not reported.
std::string_view kind_of(std::string_view name, bool is_of_delegate) {
  if (is_of_delegate) {
    return "delegate_operator";
  }
  if (name == kMethod) {
    return "method";
  }
  if (name == kDelegate) {
    return "delegate";
  }
  return name == kOperator || name.starts_with(kOperator) ? "operator" : std::string_view{};
}

ProfileEvent reduce(std::string name, std::string_view kind, int instruction,
                    std::vector<std::int64_t> durations_ns) {
  ProfileEvent event{
      .name = std::move(name), .kind = std::string(kind), .instruction = instruction};
  std::ranges::sort(durations_ns);
  event.count = static_cast<std::int64_t>(durations_ns.size());
  for (const auto ns : durations_ns) {
    event.total_ns += ns;
  }
  event.min_ns = durations_ns.front();
  event.median_ns = durations_ns[durations_ns.size() / 2];
  return event;
}

/// A call of a delegate carries no name of its own, and one of a kernel a mark before it.
std::string shown_name(std::string name, std::string_view kind, const std::string& delegate_name) {
  if (kind == "delegate") {
    return delegate_name;
  }
  if (kind == "operator" && name.size() > kOperator.size()) {
    name.erase(0, kOperator.size());
  }
  return name;
}

}  // namespace

ProfileTracer::ProfileTracer() {
  const auto ratio = ::executorch::runtime::pal_ticks_to_ns_multiplier();
  ns_per_tick_ = static_cast<double>(ratio.numerator) / static_cast<double>(ratio.denominator);
  events_.reserve(kReservedEvents);
}

/// The two clocks drift apart, by up to 0.5 ms a second: compared again at every delegate call.
void ProfileTracer::note_clocks() {
  const auto ticks = ::executorch::runtime::pal_current_ticks();
  clock_offset_ns_ =
      monotonic_ns() - static_cast<std::int64_t>(static_cast<double>(ticks) * ns_per_tick_);
}

void ProfileTracer::start() {
  events_.clear();
  note_clocks();
  is_collecting_ = true;
}

int ProfileTracer::intern(std::string_view name) {
  const auto [at, is_new] =
      name_ids_.try_emplace(std::string(name), static_cast<int>(names_.size()));
  if (is_new) {
    names_.emplace_back(name);
  }
  return at->second;
}

/// Only for events that have a number instead of a name.
void ProfileTracer::note_word(Event& event, const void* metadata, std::size_t length) {
  const auto word = word_of(metadata, length);
  if (!word.empty() && names_[static_cast<std::size_t>(event.name)].starts_with('#')) {
    event.word = intern(word);
  }
}

int ProfileTracer::current_instruction() const {
  return chain_id_ == ::executorch::runtime::kUnsetChainId ? -1 : static_cast<int>(debug_handle_);
}

std::int64_t ProfileTracer::open_event(std::string_view name, int instruction,
                                       bool is_of_delegate) {
  if (!is_collecting_) {
    return kIgnored;
  }
  events_.push_back(
      {.name = intern(name), .instruction = instruction, .is_of_delegate = is_of_delegate});
  if (name == kDelegate) {
    note_clocks();
  }
  events_.back().start_ns = monotonic_ns();
  return static_cast<std::int64_t>(events_.size()) - 1;
}

void ProfileTracer::close_event(std::int64_t id) {
  const std::int64_t now_ns = monotonic_ns();
  if (id >= 0 && static_cast<std::size_t>(id) < events_.size()) {
    events_[static_cast<std::size_t>(id)].end_ns = now_ns;
  }
}

EventTracerEntry ProfileTracer::start_profiling(const char* name,
                                                ::executorch::runtime::ChainID chain_id,
                                                ::executorch::runtime::DebugHandle debug_handle) {
  const int instruction = chain_id == ::executorch::runtime::kUnsetChainId
                              ? current_instruction()
                              : static_cast<int>(debug_handle);
  return entry_of(open_event(name, instruction, false));
}

void ProfileTracer::end_profiling(EventTracerEntry entry) { close_event(entry.event_id); }

EventTracerEntry ProfileTracer::start_profiling_delegate(
    const char* name, ::executorch::runtime::DelegateDebugIntId delegate_debug_index) {
  const auto text = name_of_delegate_event(name, delegate_debug_index);
  return entry_of(open_event(text, current_instruction(), true));
}

void ProfileTracer::end_profiling_delegate(EventTracerEntry entry, const void* metadata,
                                           std::size_t metadata_len) {
  close_event(entry.event_id);
  const auto id = static_cast<std::size_t>(entry.event_id);
  if (entry.event_id >= 0 && id < events_.size()) {
    note_word(events_[id], metadata, metadata_len);
  }
}

void ProfileTracer::log_profiling_delegate(
    const char* name, ::executorch::runtime::DelegateDebugIntId delegate_debug_index,
    et_timestamp_t start_time, et_timestamp_t end_time, const void* metadata,
    std::size_t metadata_len) {
  const auto text = name_of_delegate_event(name, delegate_debug_index);
  const auto id = open_event(text, current_instruction(), true);
  if (id == kIgnored) {
    return;
  }
  auto& event = events_[static_cast<std::size_t>(id)];
  const double ticks = end_time > start_time ? static_cast<double>(end_time - start_time) : 0;
  note_word(event, metadata, metadata_len);
  event.is_told = true;
  event.start_ns =
      clock_offset_ns_ + static_cast<std::int64_t>(static_cast<double>(start_time) * ns_per_tick_);
  event.end_ns = event.start_ns + static_cast<std::int64_t>(ticks * ns_per_tick_);
}

/// Gives each OPERATOR_CALL the name of the kernel call inside it; the inner events are not
/// reported themselves.
void ProfileTracer::adopt_kernel_names() {
  for (std::size_t i = 1; i < events_.size(); ++i) {
    const std::string_view name = names_[static_cast<std::size_t>(events_[i].name)];
    auto& outer = events_[i - 1];
    if (name.starts_with(kKernelPrefix) &&
        names_[static_cast<std::size_t>(outer.name)] == kOperator) {
      outer.name = intern(std::string(kOperator) + std::string(name.substr(kKernelPrefix.size())));
    }
  }
}

/// Makes each told span lie within its delegate's call and behind the one before it.
void ProfileTracer::place_delegate_operators() {
  const Event* call = nullptr;
  std::int64_t free_ns = 0;
  for (auto& event : events_) {
    if (names_[static_cast<std::size_t>(event.name)] == kDelegate && !event.is_of_delegate) {
      call = &event;
      free_ns = event.start_ns;
    } else if (event.is_told && call != nullptr) {
      const auto duration_ns = event.end_ns - event.start_ns;
      if (event.start_ns < free_ns || event.end_ns > call->end_ns) {
        event.start_ns = std::min(free_ns, call->end_ns);
        event.end_ns = std::min(event.start_ns + duration_ns, call->end_ns);
      }
      free_ns = event.end_ns;
    }
  }
}

/// `indices`: where in report.events an event was reduced to; -1: nowhere.
void ProfileTracer::add_spans(const std::map<Key, int>& indices, ProfileReport& report) const {
  int iteration = -1;
  std::size_t whole = 0;  // Spans of inferences that are complete.
  for (const auto& event : events_) {
    const int index = indices.at(key_of(event));
    if (index < 0) {
      continue;
    }
    if (names_[static_cast<std::size_t>(event.name)] == kMethod) {
      ++iteration;
      whole = report.spans.size();
    }
    if (iteration >= Profiler::kMostSpanIterations || report.spans.size() >= Profiler::kMostSpans) {
      report.spans.resize(whole);
      return;
    }
    report.spans.push_back({.event = index,
                            .iteration = std::max(iteration, 0),
                            .start_ns = event.start_ns,
                            .duration_ns = event.end_ns - event.start_ns});
  }
}

ProfileReport ProfileTracer::finish(int iterations, const std::string& delegate_name) {
  is_collecting_ = false;
  adopt_kernel_names();
  std::map<Key, std::vector<std::int64_t>> groups;
  for (const auto& event : events_) {
    groups[key_of(event)].push_back(event.end_ns - event.start_ns);
  }
  ProfileReport report{.iterations = iterations};
  std::map<Key, int> indices;
  for (auto& [key, durations] : groups) {
    const auto& [instruction, is_of_delegate, name_id, word_id] = key;
    const std::string& name = names_[static_cast<std::size_t>(name_id)];
    const auto kind = kind_of(name, is_of_delegate);
    indices[key] = kind.empty() ? -1 : static_cast<int>(report.events.size());
    if (!kind.empty()) {
      const auto shown =
          word_id == kNoWord
              ? shown_name(name, kind, delegate_name)
              : fmt::format("{} {}", names_[static_cast<std::size_t>(word_id)], name);
      report.events.push_back(reduce(shown, kind, instruction, std::move(durations)));
    }
    if (kind == "method") {
      report.method_median_ns = report.events.back().median_ns;
    }
  }
  place_delegate_operators();
  add_spans(indices, report);
  return report;
}

}  // namespace assay::et
