#include "assay/measure/streams.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <fmt/format.h>
#include <memory>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/measure/catch_all.h"
#include "assay/measure/measure.h"
#include "assay/tensor/tensor.h"

namespace assay {

struct Streams::Stream {
  std::unique_ptr<Session> session;
  std::atomic<std::int64_t> count{0};
  Status status;  ///< Written by the thread, read when it has failed or was joined.
  std::atomic<bool> has_failed{false};
  std::jthread thread;  ///< Last, so that it ends before what it uses.

  void infer_until(const std::stop_token& stop, std::span<const TensorView> inputs) {
    while (!stop.stop_requested()) {
      const auto outputs = catch_all([&] { return infer_once(*session, inputs); });
      if (!outputs) {
        status = std::unexpected(outputs.error());
        has_failed.store(true, std::memory_order_release);
        return;
      }
      count.fetch_add(1, std::memory_order_relaxed);
    }
  }
};

Result<std::unique_ptr<Streams>> Streams::start(std::vector<std::unique_ptr<Session>> sessions,
                                                std::span<const TensorView> inputs) {
  std::unique_ptr<Streams> streams(new Streams);
  for (auto& session : sessions) {
    ASSAY_RETURN_IF_ERROR(infer_once(*session, inputs));
    streams->streams_.push_back(std::make_unique<Stream>());
    streams->streams_.back()->session = std::move(session);
  }
  for (auto& stream : streams->streams_) {
    stream->thread = std::jthread([&stream = *stream, inputs](const std::stop_token& stop) {
      stream.infer_until(stop, inputs);
    });
  }
  return streams;
}

Streams::~Streams() = default;

std::int64_t Streams::count() const {
  std::int64_t sum = 0;
  for (const auto& stream : streams_) {
    sum += stream->count.load(std::memory_order_relaxed);
  }
  return sum;
}

bool Streams::has_failed() const {
  return std::ranges::any_of(streams_, [](const auto& stream) {
    return stream->has_failed.load(std::memory_order_acquire);
  });
}

Status Streams::stop() {
  for (auto& stream : streams_) {
    stream->thread.request_stop();
  }
  for (auto& stream : streams_) {
    if (stream->thread.joinable()) {
      stream->thread.join();
    }
  }
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (!streams_[i]->status) {
      return fail_with_context(streams_[i]->status.error(), fmt::format("stream {}", i + 2));
    }
  }
  return {};
}

}  // namespace assay
