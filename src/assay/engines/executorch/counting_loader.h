#pragma once

#include <cstddef>
#include <cstdint>
#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::et {

/// The backend that is written for an older OpenVINO: it frees what it was made from at once, while
/// OpenVINO from 2026 on reads the weights in place.
inline constexpr const char* kOpenvinoBackend = "OpenvinoBackend";

/// Hands on to another loader and knows how many bytes of what it gave are still held: the
/// program's own data and constants stay, a backend frees what it has packed; what OpenVINO frees
/// is kept as long as the loader. Outlives all that it gave. Not thread-safe.
class CountingLoader final : public ::executorch::runtime::DataLoader {
 public:
  explicit CountingLoader(std::unique_ptr<DataLoader> inner) : inner_(std::move(inner)) {}

  ::executorch::runtime::Result<::executorch::runtime::FreeableBuffer> load(
      std::size_t offset, std::size_t size, const SegmentInfo& segment) const override {
    auto loaded = inner_->load(offset, size, segment);
    if (!loaded.ok()) {
      return loaded.error();
    }
    held_bytes_ += static_cast<std::int64_t>(loaded->size());
    auto held = std::make_unique<Held>(std::move(loaded.get()), this, is_read_later(segment));
    const void* data = held->buffer.data();
    const std::size_t bytes = held->buffer.size();
    return ::executorch::runtime::FreeableBuffer(data, bytes, free_held, held.release());
  }
  ::executorch::runtime::Error load_into(std::size_t offset, std::size_t size,
                                         const SegmentInfo& segment, void* buffer) const override {
    return inner_->load_into(offset, size, segment, buffer);
  }
  ::executorch::runtime::Result<std::size_t> size() const override { return inner_->size(); }

  [[nodiscard]] std::int64_t held_bytes() const { return held_bytes_; }

 private:
  /// Goes with each buffer that is given away.
  struct Held {
    ::executorch::runtime::FreeableBuffer buffer;
    const CountingLoader* owner;
    bool is_kept;
    Held(::executorch::runtime::FreeableBuffer&& given, const CountingLoader* from, bool keeps)
        : buffer(std::move(given)), owner(from), is_kept(keeps) {}
  };
  static bool is_read_later(const SegmentInfo& segment) {
    return segment.segment_type == SegmentInfo::Type::Backend && segment.descriptor != nullptr &&
           std::string_view(segment.descriptor) == kOpenvinoBackend;
  }
  static void free_held(void* context, void* /*data*/, std::size_t size) {
    std::unique_ptr<Held> held(static_cast<Held*>(context));
    if (held->is_kept) {
      held->owner->kept_.push_back(std::move(held->buffer));
      return;
    }
    held->owner->held_bytes_ -= static_cast<std::int64_t>(size);
  }

  std::unique_ptr<DataLoader> inner_;
  mutable std::int64_t held_bytes_ = 0;
  mutable std::vector<::executorch::runtime::FreeableBuffer> kept_;
};

}  // namespace assay::et
