#include "assay/spec/onnx_files.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace assay {
namespace {

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// The messages that may hold tensors, deep down.
enum class Message : std::uint8_t {
  kModel,
  kTraining,
  kFunction,
  kGraph,
  kNode,
  kAttribute,
  kSparseTensor,
  kTensor,
};

/// A field of a message that is a message itself.
struct Holder {
  Message message;
  std::uint64_t field;
  Message content;
};

constexpr auto kHolders = std::to_array<Holder>({
    {Message::kModel, 7, Message::kGraph},
    {Message::kModel, 20, Message::kTraining},
    {Message::kModel, 25, Message::kFunction},
    {Message::kTraining, 1, Message::kGraph},
    {Message::kTraining, 2, Message::kGraph},
    {Message::kFunction, 7, Message::kNode},
    {Message::kGraph, 1, Message::kNode},
    {Message::kGraph, 5, Message::kTensor},
    {Message::kGraph, 15, Message::kSparseTensor},
    {Message::kNode, 5, Message::kAttribute},
    {Message::kAttribute, 5, Message::kTensor},
    {Message::kAttribute, 6, Message::kGraph},
    {Message::kAttribute, 10, Message::kTensor},
    {Message::kAttribute, 11, Message::kGraph},
    {Message::kAttribute, 22, Message::kSparseTensor},
    {Message::kAttribute, 23, Message::kSparseTensor},
    {Message::kSparseTensor, 1, Message::kTensor},
    {Message::kSparseTensor, 2, Message::kTensor},
});

constexpr std::uint64_t kExternalData = 13;  ///< Of a tensor: entries of key and value.
constexpr std::uint64_t kEntryKey = 1;
constexpr std::uint64_t kEntryValue = 2;
constexpr int kMostDepth = 64;                ///< No compiler nests graphs as deep.
constexpr std::uint64_t kLongestName = 4096;  ///< Of a file.

/// One field as it lies in the file; `end` is where the next one begins.
struct WireField {
  std::uint64_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t begin = 0;  ///< Of its content, for kBytes.
  std::uint64_t end = 0;
};

class OnnxReader {
 public:
  explicit OnnxReader(const std::filesystem::path& model) : in_(model, std::ios::binary) {
    std::error_code error;
    size_ = std::filesystem::file_size(model, error);
    is_whole_ = in_.is_open() && !error;
  }

  std::vector<std::string> read() {
    read_message(Message::kModel, 0, size_, 0);
    return std::move(names_);
  }

 private:
  std::optional<std::uint64_t> read_varint(std::uint64_t end) {
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

  void go_to(std::uint64_t place) {
    if (place != at_) {
      in_.seekg(static_cast<std::streamoff>(place));
      at_ = place;
    }
  }

  /// The next field before `end`; nothing at the end, or where the file is damaged.
  std::optional<WireField> read_field(std::uint64_t end) {
    if (!is_whole_ || at_ >= end) {
      return std::nullopt;
    }
    const auto tag = read_varint(end);
    const auto field = tag ? read_content(*tag, end) : std::nullopt;
    is_whole_ = field.has_value();
    return field;
  }

  std::optional<WireField> read_content(std::uint64_t tag, std::uint64_t end) {
    WireField field{.number = tag >> 3U, .type = static_cast<WireType>(tag & 7U)};
    std::uint64_t length = 0;
    if (field.type == WireType::kVarint) {
      if (!read_varint(end)) {
        return std::nullopt;
      }
    } else if (field.type == WireType::kBytes) {
      const auto told = read_varint(end);
      if (!told) {
        return std::nullopt;
      }
      length = *told;
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

  void read_message(Message message, std::uint64_t begin, std::uint64_t end, int depth) {
    go_to(begin);
    while (const auto field = read_field(end)) {
      if (field->type == WireType::kBytes) {
        read_part(message, *field, depth);
      }
      go_to(field->end);
    }
  }

  void read_part(Message message, const WireField& field, int depth) {
    if (message == Message::kTensor && field.number == kExternalData) {
      return read_entry(field);
    }
    const auto* holder = std::ranges::find_if(kHolders, [&](const Holder& one) {
      return one.message == message && one.field == field.number;
    });
    if (holder != kHolders.end() && depth < kMostDepth) {
      read_message(holder->content, field.begin, field.end, depth + 1);
    }
  }

  /// One pair of a tensor's external data: "location" names the file.
  void read_entry(const WireField& entry) {
    std::string key;
    std::string value;
    go_to(entry.begin);
    while (const auto field = read_field(entry.end)) {
      if (field->number == kEntryKey) {
        key = read_text(*field);
      } else if (field->number == kEntryValue) {
        value = read_text(*field);
      }
      go_to(field->end);
    }
    if (key == "location" && std::ranges::find(names_, value) == names_.end()) {
      names_.push_back(value);
    }
  }

  std::string read_text(const WireField& field) {
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

  std::ifstream in_;
  std::uint64_t size_ = 0;
  std::uint64_t at_ = 0;
  bool is_whole_ = true;  ///< So far.
  std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> read_external_files(const std::filesystem::path& model) {
  return OnnxReader(model).read();
}

}  // namespace assay
