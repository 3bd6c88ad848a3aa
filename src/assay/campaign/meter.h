#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/record/device_trace.h"

namespace assay {

/// One line of a meter: {"watts": 3.2} or {"joules": 71.5}, and "unix_ns" if it knows when.
struct MeterReading {
  std::int64_t unix_ns = 0;  ///< 0: when the line came.
  bool is_energy = false;    ///< Joules since any origin, which never fall; else watts now.
  std::int64_t micros = 0;
};

/// Errors: kInvalidArgument, quoting the line.
Result<MeterReading> meter_reading_from_line(std::string_view line);

/// A command of this machine that reads a power meter from start() to stop(), one line a reading:
/// docs/reference/meters.md. A thread takes the lines as they come.
class Meter {
 public:
  /// Starts the command and waits for its first reading, five seconds at most. Errors: those of
  /// Subprocess::start(); kUnavailable: there was no reading, or a malformed line.
  static Result<std::unique_ptr<Meter>> start(const std::vector<std::string>& argv);
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  ~Meter();

  /// Ends the command with SIGTERM, after two seconds with SIGKILL. The times of the trace are
  /// CLOCK_BOOTTIME of this machine. Errors: kUnavailable: it ended before, or a line is no
  /// reading.
  Result<DeviceTrace> stop();

 private:
  explicit Meter(Subprocess process);
  void take_lines();
  void take(std::string_view line);
  [[nodiscard]] Status wait_for_first();

  std::int64_t boottime_less_unix_ns_;
  Subprocess process_;
  std::mutex mutex_;  ///< Guards what follows.
  bool is_stopped_ = false;
  DeviceTrace trace_{.channel = kMeterChannel, .unit = {}, .times_ns = {}, .micros = {}};
  std::string failure_;  ///< Empty: none so far.
  std::thread thread_;
};

}  // namespace assay
