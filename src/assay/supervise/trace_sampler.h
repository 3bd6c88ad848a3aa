#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "assay/device/trace_channels.h"
#include "assay/record/device_trace.h"

namespace assay {

/// Reads the channels of this machine at a fixed period from a thread of its own, which sleeps in
/// between: first when it is made, last when it is stopped.
///
/// The files are opened before, so that a reading is a few calls of pread(2). A column that holds
/// 20,000 readings is thinned to every second one, and the period is doubled.
class TraceSampler {
 public:
  /// `period_ns`: 0 reads nothing and starts no thread; periods below 1 ms are taken as 1 ms.
  /// `root`: where /sys is found.
  explicit TraceSampler(std::int64_t period_ns, const std::filesystem::path& root = "/");
  TraceSampler(const TraceSampler&) = delete;
  TraceSampler& operator=(const TraceSampler&) = delete;
  ~TraceSampler() { end_thread(); }

  /// Takes a last reading. Channels without a single one are unavailable. Called once.
  LaunchTraces stop();

 private:
  void run();
  void read_all();
  void thin_out();
  void end_thread();

  TraceChannels channels_;
  LaunchTraces traces_;
  std::mutex mutex_;
  std::condition_variable is_stopped_changed_;
  bool is_stopped_ = false;
  std::thread thread_;
};

}  // namespace assay
