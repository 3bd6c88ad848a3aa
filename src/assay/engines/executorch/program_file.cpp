#include "assay/engines/executorch/program_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <ios>
#include <string_view>
#include <system_error>

#include "assay/base/result.h"

namespace assay::et {
namespace {

constexpr std::size_t kHeadBytes = 64;
constexpr std::size_t kHeaderAt = 8;

using Head = std::array<char, kHeadBytes>;

template <class T>
T number_at(const Head& head, std::size_t offset) {
  T value{};
  std::memcpy(&value, head.data() + offset, sizeof value);
  return value;
}

/// How long the file must be by its own header; 0 when it has none.
std::uint64_t expected_bytes(const Head& head) {
  if (std::string_view(head.data() + kHeaderAt, 4) != "eh00") {
    return 0;
  }
  const auto header_length = number_at<std::uint32_t>(head, kHeaderAt + 4);
  const auto program_size = number_at<std::uint64_t>(head, kHeaderAt + 8);
  const auto segment_base = number_at<std::uint64_t>(head, kHeaderAt + 16);
  constexpr std::uint32_t kLengthWithSegmentSize = 32;
  const auto segment_size =
      header_length >= kLengthWithSegmentSize ? number_at<std::uint64_t>(head, kHeaderAt + 24) : 0;
  return std::max(program_size, segment_base + segment_size);
}

}  // namespace

Status check_program_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) {
    const auto code = error == std::errc::no_such_file_or_directory ? ErrorCode::kNotFound
                                                                    : ErrorCode::kUnavailable;
    return fail(code, fmt::format("{}: {}", path.string(), error.message()));
  }
  Head head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  if (!file.is_open()) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}: cannot be read", path.string()));
  }
  if (size < kHeadBytes || std::string_view(head.data() + 4, 2) != "ET") {
    return fail(
        ErrorCode::kCorrupt,
        fmt::format(
            "{} ({} bytes) is not an ExecuTorch program: the identifier 'ET' is not at byte 4",
            path.string(), size));
  }
  if (const auto expected = expected_bytes(head); size < expected) {
    return fail(ErrorCode::kCorrupt, fmt::format("{} is truncated: {} bytes of {}; make it again",
                                                 path.string(), size, expected));
  }
  return {};
}

}  // namespace assay::et
