#include "assay/supervise/heartbeat.h"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "assay/wire/channel.h"
#include "assay/wire/frame.h"

namespace assay {

Heartbeat::Heartbeat(wire::Channel& channel, std::int64_t every_ns, int silence_ms)
    : channel_(channel) {
  if (every_ns > 0) {
    thread_ = std::thread([this, every_ns, silence_ms] { run(every_ns, silence_ms); });
  }
}

void Heartbeat::run(std::int64_t every_ns, int silence_ms) {
  const wire::Frame frame{.type = wire::MessageType::kLog, .body = {{"text", "at work"}}};
  std::unique_lock lock(mutex_);
  while (!has_failed_ && !is_stopped_changed_.wait_for(lock, std::chrono::nanoseconds(every_ns),
                                                       [this] { return is_stopped_; })) {
    lock.unlock();
    const auto sent = channel_.send(frame, silence_ms);
    lock.lock();
    has_failed_ = !sent;
  }
}

bool Heartbeat::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  is_stopped_changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
  return !has_failed_;
}

}  // namespace assay
