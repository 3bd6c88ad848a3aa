#include "assay/spec/onnx_files.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "assay/spec/protobuf_file.h"

namespace assay {
namespace {

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

constexpr std::uint64_t kExternalData = 13;  ///< Field of a tensor: entries of key and value.
constexpr std::uint64_t kEntryKey = 1;
constexpr std::uint64_t kEntryValue = 2;
constexpr int kMostDepth = 64;  ///< No compiler nests graphs as deep.

class ExternalFiles {
 public:
  explicit ExternalFiles(const std::filesystem::path& model) : file_(model) {}

  std::vector<std::string> read() {
    read_message(Message::kModel, 0, file_.size(), 0);
    return std::move(names_);
  }

 private:
  void read_message(Message message, std::uint64_t begin, std::uint64_t end, int depth) {
    file_.visit_fields(begin, end, [&](const ProtobufFile::Field& field) {
      if (field.type == ProtobufFile::WireType::kBytes) {
        read_part(message, field, depth);
      }
    });
  }

  void read_part(Message message, const ProtobufFile::Field& field, int depth) {
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
  void read_entry(const ProtobufFile::Field& entry) {
    std::string key;
    std::string value;
    file_.visit_fields(entry.begin, entry.end, [&](const ProtobufFile::Field& field) {
      if (field.number == kEntryKey) {
        key = file_.read_text(field);
      } else if (field.number == kEntryValue) {
        value = file_.read_text(field);
      }
    });
    if (key == "location" && std::ranges::find(names_, value) == names_.end()) {
      names_.push_back(value);
    }
  }

  ProtobufFile file_;
  std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> read_external_files(const std::filesystem::path& model) {
  return ExternalFiles(model).read();
}

}  // namespace assay
