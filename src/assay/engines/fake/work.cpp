#include "assay/engines/fake/work.h"

#include <cstddef>
#include <cstdint>

#include "assay/base/clock.h"

namespace assay::fake {
namespace {

constexpr std::size_t kSmallWords = 1024;

}  // namespace

void spin_for(std::int64_t ns) {
  const std::int64_t end_ns = monotonic_ns() + ns;
  while (ns > 0 && monotonic_ns() < end_ns) {
  }
}

Work::Work(std::int64_t multiply_adds, std::int64_t stream_bytes)
    : multiply_adds_(multiply_adds),
      small_(multiply_adds > 0 ? kSmallWords : 0, 1.0F),
      large_(static_cast<std::size_t>(stream_bytes) / sizeof(std::uint64_t), 1) {}

void Work::run(std::int64_t more) {
  std::size_t at = 0;
  const auto count = small_.empty() ? 0 : multiply_adds_ + more;
  for (std::int64_t i = 0; i < count; ++i) {
    small_[at] = small_[at] * 0.999F + 0.001F;  // Stays 1, never denormal.
    at = at + 1 == small_.size() ? 0 : at + 1;
  }
  for (auto& word : large_) {
    word += 1;
  }
}

}  // namespace assay::fake
