#include "assay/base/uuid.h"

#include <cstdint>
#include <fmt/format.h>
#include <random>
#include <string>

#include "assay/base/clock.h"

namespace assay {

std::string make_uuid7() {
  static thread_local std::random_device entropy;
  const auto draw = [] { return (static_cast<std::uint64_t>(entropy()) << 32) | entropy(); };
  const auto unix_ms = static_cast<std::uint64_t>(unix_time_ns() / 1'000'000);
  const std::uint64_t high = (unix_ms << 16) | 0x7000 | (draw() & 0x0FFF);
  const std::uint64_t low = (draw() & 0x3FFF'FFFF'FFFF'FFFF) | 0x8000'0000'0000'0000;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xFFFF,
                     high & 0xFFFF, low >> 48, low & 0xFFFF'FFFF'FFFF);
}

}  // namespace assay
