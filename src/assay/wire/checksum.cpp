#include "assay/wire/checksum.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace assay::wire {
namespace {

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
static_assert(std::endian::native == std::endian::little);

std::uint64_t word_at(const std::byte* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, kWordBytes);
  return word;
}

using Tables = std::array<std::array<std::uint32_t, 256>, kWordBytes>;

/// tables[k][b]: what byte b does to the checksum k bytes further on ("slicing by eight": Kounavis
/// and Berry, ISCC 2005).
constexpr Tables make_tables() {
  constexpr std::uint32_t kReversedPolynomial = 0x82F63B78;
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? kReversedPolynomial : 0);
    }
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const auto before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

std::uint32_t update_by_table(std::uint32_t crc, std::span<const std::byte> bytes) {
  while (bytes.size() >= kWordBytes) {
    const auto word = word_at(bytes.data()) ^ crc;
    crc = 0;
    for (std::size_t k = 0; k < kWordBytes; ++k) {
      crc ^= kTables[kWordBytes - 1 - k][(word >> (8 * k)) & 0xFF];
    }
    bytes = bytes.subspan(kWordBytes);
  }
  for (const auto byte : bytes) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<std::uint32_t>(byte)) & 0xFF];
  }
  return crc;
}

#if defined(__x86_64__)
bool has_instruction() { return __builtin_cpu_supports("sse4.2") != 0; }

__attribute__((target("sse4.2"))) std::uint32_t update_by_instruction(
    std::uint32_t crc, std::span<const std::byte> bytes) {
  std::uint64_t wide = crc;
  for (; bytes.size() >= kWordBytes; bytes = bytes.subspan(kWordBytes)) {
    wide = _mm_crc32_u64(wide, word_at(bytes.data()));
  }
  crc = static_cast<std::uint32_t>(wide);
  for (const auto byte : bytes) {
    crc = _mm_crc32_u8(crc, static_cast<std::uint8_t>(byte));
  }
  return crc;
}
#elif defined(__ARM_FEATURE_CRC32)
constexpr bool has_instruction() { return true; }

std::uint32_t update_by_instruction(std::uint32_t crc, std::span<const std::byte> bytes) {
  for (; bytes.size() >= kWordBytes; bytes = bytes.subspan(kWordBytes)) {
    crc = __crc32cd(crc, word_at(bytes.data()));
  }
  for (const auto byte : bytes) {
    crc = __crc32cb(crc, static_cast<std::uint8_t>(byte));
  }
  return crc;
}
#else
constexpr bool has_instruction() { return false; }

std::uint32_t update_by_instruction(std::uint32_t crc, std::span<const std::byte> bytes) {
  return update_by_table(crc, bytes);
}
#endif

template <class Update>
std::uint32_t checksum(std::initializer_list<std::span<const std::byte>> parts,
                       const Update& update) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const auto part : parts) {
    crc = update(crc, part);
  }
  return ~crc;
}

}  // namespace

std::uint32_t frame_checksum(std::initializer_list<std::span<const std::byte>> parts) {
  return checksum(parts, has_instruction() ? update_by_instruction : update_by_table);
}

std::uint32_t frame_checksum_by_table(std::initializer_list<std::span<const std::byte>> parts) {
  return checksum(parts, update_by_table);
}

}  // namespace assay::wire
