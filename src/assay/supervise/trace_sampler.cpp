#include "assay/supervise/trace_sampler.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <time.h>

#include "assay/base/clock.h"
#include "assay/device/trace_channels.h"
#include "assay/record/device_trace.h"

namespace assay {
namespace {

constexpr std::size_t kMostReadings = 20'000;
constexpr std::int64_t kLeastPeriodNs = 1'000'000;

std::int64_t thread_cpu_ns() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<std::int64_t>(used.tv_sec) * 1'000'000'000 + used.tv_nsec;
}

template <class T>
void keep_every_second(std::vector<T>& values) {
  for (std::size_t i = 0; 2 * i < values.size(); ++i) {
    values[i] = values[2 * i];
  }
  values.resize((values.size() + 1) / 2);
}

}  // namespace

TraceSampler::TraceSampler(std::int64_t period_ns, const std::filesystem::path& root) {
  if (period_ns <= 0) {
    return;
  }
  channels_ = TraceChannels::open(root);
  traces_.period_ns = std::max(period_ns, kLeastPeriodNs);
  for (const auto& channel : channels_.channels()) {
    traces_.channels.push_back(
        {.channel = channel.name, .unit = channel.unit, .times_ns = {}, .micros = {}});
  }
  read_all();
  traces_.start_ns = boottime_ns();
  thread_ = std::thread([this] { run(); });
}

void TraceSampler::run() {
  std::unique_lock lock(mutex_);
  auto next = std::chrono::steady_clock::now();
  while (!is_stopped_) {
    next += std::chrono::nanoseconds(traces_.period_ns);
    // A period that was missed, as in a machine that was suspended, is not made up for.
    next = std::max(next, std::chrono::steady_clock::now());
    if (!is_stopped_changed_.wait_until(lock, next, [this] { return is_stopped_; })) {
      read_all();
    }
  }
  traces_.cpu_ns = thread_cpu_ns();
}

/// Each reading has its own time: a slow sensor delays those behind it.
void TraceSampler::read_all() {
  bool is_full = false;
  for (std::size_t i = 0; i < traces_.channels.size(); ++i) {
    const auto micros = channels_.read(i);
    if (micros) {
      auto& trace = traces_.channels[i];
      trace.times_ns.push_back(boottime_ns());
      trace.micros.push_back(*micros);
      is_full = is_full || trace.times_ns.size() >= kMostReadings;
    }
  }
  ++traces_.readings;
  if (is_full) {
    thin_out();
  }
}

void TraceSampler::thin_out() {
  for (auto& trace : traces_.channels) {
    keep_every_second(trace.times_ns);
    keep_every_second(trace.micros);
  }
  traces_.period_ns *= 2;
}

void TraceSampler::end_thread() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  is_stopped_changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

LaunchTraces TraceSampler::stop() {
  end_thread();
  read_all();
  traces_.unavailable = channels_.unavailable();
  for (const auto& trace : traces_.channels) {
    if (trace.times_ns.empty()) {
      traces_.unavailable.push_back({trace.channel, "its file gives no number"});
    }
  }
  std::erase_if(traces_.channels, [](const DeviceTrace& trace) { return trace.times_ns.empty(); });
  return std::move(traces_);
}

}  // namespace assay
