#include "assay/spec/protobuf_file.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <optional>
#include <string>
#include <system_error>

namespace assay {
namespace {

constexpr std::uint64_t kLongestName = 4096;

}  // namespace

ProtobufFile::ProtobufFile(const std::filesystem::path& path) : in_(path, std::ios::binary) {
  std::error_code error;
  size_ = std::filesystem::file_size(path, error);
  is_whole_ = in_.is_open() && !error;
}

std::optional<std::uint64_t> ProtobufFile::read_varint(std::uint64_t end) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && at_ < end; shift += 7) {
    const int byte = in_.get();
    if (byte == std::ifstream::traits_type::eof()) {
      return std::nullopt;
    }
    ++at_;
    value |= (static_cast<std::uint64_t>(byte) & 0x7FU) << static_cast<unsigned>(shift);
    if ((static_cast<unsigned>(byte) & 0x80U) == 0) {
      return value;
    }
  }
  return std::nullopt;
}

void ProtobufFile::go_to(std::uint64_t place) {
  if (place != at_) {
    in_.seekg(static_cast<std::streamoff>(place));
    at_ = place;
  }
}

/// The next field before `end`; nothing at the end, or where the file is damaged.
std::optional<ProtobufFile::Field> ProtobufFile::read_field(std::uint64_t end) {
  if (!is_whole_ || at_ >= end) {
    return std::nullopt;
  }
  const auto tag = read_varint(end);
  const auto field = tag ? read_content(*tag, end) : std::nullopt;
  is_whole_ = field.has_value();
  return field;
}

std::optional<ProtobufFile::Field> ProtobufFile::read_content(std::uint64_t tag,
                                                              std::uint64_t end) {
  Field field{.number = tag >> 3U, .type = static_cast<WireType>(tag & 7U)};
  std::uint64_t length = 0;
  if (field.type == WireType::kVarint || field.type == WireType::kBytes) {
    const auto told = read_varint(end);
    if (!told) {
      return std::nullopt;
    }
    (field.type == WireType::kVarint ? field.value : length) = *told;
  } else if (field.type == WireType::kFixed64 || field.type == WireType::kFixed32) {
    length = field.type == WireType::kFixed64 ? 8 : 4;
  } else {
    return std::nullopt;
  }
  if (length > end - at_) {
    return std::nullopt;
  }
  field.begin = at_;
  field.end = at_ + length;
  return field;
}

std::string ProtobufFile::read_text(const Field& field) {
  const auto length = field.end - field.begin;
  if (field.type != WireType::kBytes || length > kLongestName) {
    return {};
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  go_to(field.begin);
  in_.read(text.data(), static_cast<std::streamsize>(length));
  at_ = field.end;
  return text;
}

}  // namespace assay
