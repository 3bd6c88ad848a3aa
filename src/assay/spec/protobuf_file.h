#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace assay {

/// A file of protobuf messages, read field by field; what is skipped is not read, however large.
class ProtobufFile {
 public:
  enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  /// One field of the file; `end` is where the next one begins.
  struct Field {
    std::uint64_t number = 0;
    WireType type = WireType::kVarint;
    std::uint64_t value = 0;  ///< Value of a kVarint.
    std::uint64_t begin = 0;  ///< Start of its content, for kBytes.
    std::uint64_t end = 0;
  };

  explicit ProtobufFile(const std::filesystem::path& path);

  /// Calls `visit` with each field of the message between two places. Ends early where the file is
  /// damaged; then is_whole() is false. `visit` may look into the field.
  template <class Visit>
  void visit_fields(std::uint64_t begin, std::uint64_t end, const Visit& visit) {
    go_to(begin);
    while (const auto field = read_field(end)) {
      visit(*field);
      go_to(field->end);
    }
  }

  /// A field's text; empty if it is no text, or longer than any name.
  std::string read_text(const Field& field);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// True if the file could be read as messages so far.
  [[nodiscard]] bool is_whole() const { return is_whole_; }

 private:
  std::optional<std::uint64_t> read_varint(std::uint64_t end);
  std::optional<Field> read_field(std::uint64_t end);
  std::optional<Field> read_content(std::uint64_t tag, std::uint64_t end);
  void go_to(std::uint64_t place);

  std::ifstream in_;
  std::uint64_t size_ = 0;
  std::uint64_t at_ = 0;
  bool is_whole_ = true;
};

}  // namespace assay
