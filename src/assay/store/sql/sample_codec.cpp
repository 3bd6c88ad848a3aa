#include "assay/store/sql/sample_codec.h"

#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <zstd.h>

#include "assay/base/result.h"

namespace assay::sql {
namespace {

constexpr std::size_t kWidth = sizeof(std::int64_t);
constexpr int kLevel = 3;
constexpr std::size_t kMaxBytes = std::size_t{1} << 29;
/// A block of zstd holds at most 128 KiB and takes at least four bytes (RFC 8878, 3.1.1.2).
constexpr std::size_t kMostPerByte = std::size_t{1} << 15;

// The frame ends with a checksum of the content.
std::string compress(std::string_view bytes) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  ASSAY_CHECK(context != nullptr);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const auto size =
      ZSTD_compress2(context.get(), out.data(), out.size(), bytes.data(), bytes.size());
  ASSAY_CHECK(ZSTD_isError(size) == 0);
  out.resize(size);
  return out;
}

Result<std::string> decompress(std::string_view bytes) {
  const auto size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMaxBytes) {
    return fail(ErrorCode::kCorrupt, "not a zstd frame of known size");
  }
  if (size / kMostPerByte > bytes.size()) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("a zstd frame of {} bytes cannot hold {} bytes", bytes.size(), size));
  }
  std::string out(size, '\0');
  const auto got = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got) != 0 || got != size) {
    return fail(ErrorCode::kCorrupt, "damaged zstd frame");
  }
  return out;
}

// Byte planes: all lowest bytes first.
std::string planes_from_samples(std::span<const std::int64_t> samples) {
  std::string planes(samples.size() * kWidth, '\0');
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto bits = static_cast<std::uint64_t>(samples[i]);
    for (std::size_t byte = 0; byte < kWidth; ++byte) {
      planes[byte * samples.size() + i] = static_cast<char>((bits >> (8 * byte)) & 0xff);
    }
  }
  return planes;
}

// `stride` is the distance of a sample's bytes, `step` that of neighbouring samples.
std::vector<std::int64_t> gather(std::string_view bytes, std::size_t step, std::size_t stride) {
  std::vector<std::int64_t> samples(bytes.size() / kWidth);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::uint64_t bits = 0;
    for (std::size_t byte = 0; byte < kWidth; ++byte) {
      const auto value = static_cast<unsigned char>(bytes[i * step + byte * stride]);
      bits |= std::uint64_t{value} << (8 * byte);
    }
    samples[i] = static_cast<std::int64_t>(bits);
  }
  return samples;
}

std::string little_endian_from_samples(std::span<const std::int64_t> samples) {
  std::string bytes(samples.size() * kWidth, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto bits = static_cast<std::uint64_t>(samples[i / kWidth]);
    bytes[i] = static_cast<char>((bits >> (8 * (i % kWidth))) & 0xff);
  }
  return bytes;
}

}  // namespace

Packed packed_from_samples(std::span<const std::int64_t> samples) {
  auto shuffled = shuffled_from_samples(samples);
  return shuffled.bytes.size() < samples.size() * kWidth
             ? shuffled
             : Packed{"i64", little_endian_from_samples(samples)};
}

Packed shuffled_from_samples(std::span<const std::int64_t> samples) {
  return {"i64-shuffle-zstd", compress(planes_from_samples(samples))};
}

Result<std::vector<std::int64_t>> samples_from_packed(std::string_view codec,
                                                      std::string_view bytes, std::size_t count) {
  const bool is_shuffled = codec == "i64-shuffle-zstd";
  if (!is_shuffled && codec != "i64") {
    return fail(ErrorCode::kCorrupt, fmt::format("unknown sample codec '{}'", codec));
  }
  std::string plain(is_shuffled ? "" : bytes);
  if (is_shuffled) {
    ASSAY_ASSIGN_OR_RETURN(plain, decompress(bytes));
  }
  if (plain.size() % kWidth != 0 || plain.size() / kWidth != count) {
    return fail(ErrorCode::kCorrupt, fmt::format("sample block of {} bytes should hold {} samples",
                                                 plain.size(), count));
  }
  return is_shuffled ? gather(plain, 1, count) : gather(plain, kWidth, 1);
}

Packed packed_from_bytes(std::string_view bytes) {
  auto compressed = compress(bytes);
  if (compressed.size() < bytes.size()) {
    return {"zstd", std::move(compressed)};
  }
  return {"raw", std::string(bytes)};
}

Result<std::string> bytes_from_packed(std::string_view codec, std::string_view bytes) {
  if (codec == "raw") {
    return std::string(bytes);
  }
  if (codec == "zstd") {
    return decompress(bytes);
  }
  return fail(ErrorCode::kCorrupt, fmt::format("unknown codec '{}'", codec));
}

}  // namespace assay::sql
