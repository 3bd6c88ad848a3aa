#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "assay/wire/channel.h"

namespace assay {

/// Shows a host that the agent lives while it reads a request and works on it: a log frame of
/// request 0 at each interval, from a thread of its own. Nobody else may write into the channel
/// meanwhile.
class Heartbeat {
 public:
  /// `every_ns`: 0 for a host that wants no sign, and then there is no thread.
  /// `silence_ms`: limit of Channel::send().
  Heartbeat(wire::Channel& channel, std::int64_t every_ns, int silence_ms);
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;
  ~Heartbeat() { stop(); }

  /// False when a frame could not be written: it may have been cut, and the channel is of no
  /// further use.
  bool stop();

 private:
  void run(std::int64_t every_ns, int silence_ms);

  wire::Channel& channel_;
  std::mutex mutex_;
  std::condition_variable is_stopped_changed_;
  bool is_stopped_ = false;
  bool has_failed_ = false;
  std::thread thread_;
};

}  // namespace assay
