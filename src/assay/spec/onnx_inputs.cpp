#include "assay/spec/onnx_inputs.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/spec/protobuf_file.h"

namespace assay {
namespace {

using Field = ProtobufFile::Field;

// Numbers of fields in onnx.proto.
constexpr std::uint64_t kModelGraph = 7;
constexpr std::uint64_t kGraphInitializer = 5;
constexpr std::uint64_t kGraphInput = 11;
constexpr std::uint64_t kTensorName = 8;
constexpr std::uint64_t kValueName = 1;
constexpr std::uint64_t kValueType = 2;
constexpr std::uint64_t kTypeTensor = 1;
constexpr std::uint64_t kTensorElement = 1;
constexpr std::uint64_t kTensorShape = 2;
constexpr std::uint64_t kShapeDimension = 1;
constexpr std::uint64_t kDimensionSize = 1;
constexpr std::uint64_t kDimensionName = 2;

constexpr auto kElements = std::to_array<std::pair<std::uint64_t, std::string_view>>({
    {1, "float32"},
    {2, "uint8"},
    {3, "int8"},
    {4, "uint16"},
    {5, "int16"},
    {6, "int32"},
    {7, "int64"},
    {9, "bool"},
    {10, "float16"},
    {11, "float64"},
    {12, "uint32"},
    {13, "uint64"},
    {16, "bfloat16"},
});

std::string name_of_element(std::uint64_t element) {
  const auto* found =
      std::ranges::find(kElements, element, &std::pair<std::uint64_t, std::string_view>::first);
  return found == kElements.end() ? "" : std::string(found->second);
}

class OnnxInputs {
 public:
  explicit OnnxInputs(const std::filesystem::path& model) : file_(model) {}

  std::optional<std::vector<OnnxInput>> read() {
    bool has_graph = false;
    file_.visit_fields(0, file_.size(), [&](const Field& field) {
      if (field.number == kModelGraph) {
        has_graph = true;
        read_graph(field);
      }
    });
    std::erase_if(inputs_, [this](const OnnxInput& one) { return constants_.contains(one.name); });
    return has_graph && file_.is_whole() && are_tensors_ ? std::optional(std::move(inputs_))
                                                         : std::nullopt;
  }

 private:
  template <class Visit>
  void look_into(const Field& message, const Visit& visit) {
    if (message.type == ProtobufFile::WireType::kBytes) {
      file_.visit_fields(message.begin, message.end, visit);
    }
  }

  void read_graph(const Field& graph) {
    look_into(graph, [this](const Field& field) {
      if (field.number == kGraphInput) {
        inputs_.push_back(read_input(field));
      } else if (field.number == kGraphInitializer) {
        look_into(field, [this](const Field& part) {
          if (part.number == kTensorName) {
            constants_.insert(file_.read_text(part));
          }
        });
      }
    });
  }

  OnnxInput read_input(const Field& value) {
    OnnxInput input;
    bool is_tensor = false;
    look_into(value, [&](const Field& field) {
      if (field.number == kValueName) {
        input.name = file_.read_text(field);
      } else if (field.number == kValueType) {
        look_into(field, [&](const Field& type) {
          if (type.number == kTypeTensor) {
            is_tensor = true;
            read_tensor_type(type, input);
          }
        });
      }
    });
    are_tensors_ = are_tensors_ && is_tensor;
    return input;
  }

  void read_tensor_type(const Field& type, OnnxInput& input) {
    look_into(type, [&](const Field& field) {
      if (field.number == kTensorElement) {
        input.dtype = name_of_element(field.value);
      } else if (field.number == kTensorShape) {
        auto& shape = input.shape.emplace();
        look_into(field, [&](const Field& dimension) {
          if (dimension.number == kShapeDimension) {
            shape.push_back(read_dimension(dimension));
          }
        });
      }
    });
  }

  OnnxDimension read_dimension(const Field& message) {
    OnnxDimension dimension;
    look_into(message, [&](const Field& field) {
      // Older exporters write -1 for an open size, as ONNX Runtime reads it.
      const auto size = static_cast<std::int64_t>(field.value);
      if (field.number == kDimensionSize && size >= 0) {
        dimension.size = size;
      } else if (field.number == kDimensionName) {
        dimension.name = file_.read_text(field);
      }
    });
    return dimension;
  }

  ProtobufFile file_;
  std::vector<OnnxInput> inputs_;
  std::set<std::string> constants_;
  bool are_tensors_ = true;
};

}  // namespace

std::optional<std::vector<OnnxInput>> read_onnx_inputs(const std::filesystem::path& model) {
  return OnnxInputs(model).read();
}

}  // namespace assay
