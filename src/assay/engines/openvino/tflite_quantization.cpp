#include "assay/engines/openvino/tflite_quantization.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "assay/base/file_descriptor.h"
#include "assay/record/launch.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay::openvino {
namespace {

// Fields by their number in the schema's tables.
constexpr int kModelSubgraphs = 2;
constexpr int kGraphTensors = 0;
constexpr int kGraphInputs = 1;
constexpr int kGraphOutputs = 2;
constexpr int kTensorType = 1;
constexpr int kTensorName = 3;
constexpr int kTensorQuantization = 4;
constexpr int kScales = 2;
constexpr int kZeroPoints = 3;
constexpr int kAxis = 6;
constexpr std::array<std::uint8_t, 4> kIntegerTypes = {2, 3, 7, 9};  // int32, uint8, int16, int8
constexpr std::size_t kMostValues = 1U << 20;

/// Reads a FlatBuffer. What lies outside of the bytes reads as 0 and is remembered.
class FlatReader {
 public:
  explicit FlatReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool is_whole() const { return is_whole_; }

  template <class T>
  T read(std::size_t at) {
    T value{};
    if (at > bytes_.size() || bytes_.size() - at < sizeof(T)) {
      is_whole_ = false;
      return value;
    }
    std::memcpy(&value, bytes_.data() + at, sizeof(T));
    return value;
  }

  /// Start of the table, vector or text that the offset at this position leads to.
  std::size_t follow(std::size_t at) { return at + read<std::uint32_t>(at); }

  /// Position of a field in a table; absent if the field has its default.
  std::optional<std::size_t> field(std::size_t table, int number) {
    const auto vtable =
        static_cast<std::size_t>(static_cast<std::int64_t>(table) - read<std::int32_t>(table));
    const auto at = std::size_t{4} + 2 * static_cast<std::size_t>(number);
    if (!is_whole_ || at + 2 > read<std::uint16_t>(vtable)) {
      return std::nullopt;
    }
    const auto offset = read<std::uint16_t>(vtable + at);
    return offset == 0 ? std::nullopt : std::optional(table + offset);
  }

  /// The elements of a vector: where the first one lies, and how many there are.
  std::pair<std::size_t, std::size_t> elements(std::size_t table, int number, std::size_t size) {
    const auto at = field(table, number);
    if (!at) {
      return {0, 0};
    }
    const auto begin = follow(*at);
    const std::size_t count = read<std::uint32_t>(begin);
    const auto left = begin + 4 <= bytes_.size() ? (bytes_.size() - begin - 4) / size : 0;
    is_whole_ = is_whole_ && count <= std::min(left, kMostValues);
    return is_whole_ ? std::pair(begin + 4, count) : std::pair<std::size_t, std::size_t>(0, 0);
  }

  template <class Stored, class Value>
  std::vector<Value> values(std::size_t table, int number) {
    const auto [begin, count] = elements(table, number, sizeof(Stored));
    std::vector<Value> read_values;
    read_values.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      read_values.push_back(static_cast<Value>(read<Stored>(begin + i * sizeof(Stored))));
    }
    return read_values;
  }

  std::string text(std::size_t table, int number) {
    const auto [begin, count] = elements(table, number, 1);
    return {reinterpret_cast<const char*>(bytes_.data()) + begin, count};
  }

 private:
  std::span<const std::byte> bytes_;
  bool is_whole_ = true;
};

std::optional<Quantization> quantization_of(FlatReader& reader, std::size_t tensor) {
  const auto type_at = reader.field(tensor, kTensorType);
  const auto type = type_at ? reader.read<std::uint8_t>(*type_at) : std::uint8_t{0};
  const auto told = reader.field(tensor, kTensorQuantization);
  if (!told || std::ranges::find(kIntegerTypes, type) == kIntegerTypes.end()) {
    return std::nullopt;
  }
  const auto table = reader.follow(*told);
  Quantization quantization{
      .scales = reader.values<float, double>(table, kScales),
      .zero_points = reader.values<std::int64_t, std::int64_t>(table, kZeroPoints)};
  if (quantization.scales.empty() ||
      quantization.zero_points.size() != quantization.scales.size()) {
    return std::nullopt;
  }
  const auto axis = reader.field(table, kAxis);
  if (quantization.scales.size() > 1) {
    quantization.axis = axis ? reader.read<std::int32_t>(*axis) : 0;
  }
  return quantization;
}

std::vector<TfliteTensor> tensors_at(FlatReader& reader, std::size_t graph, int which) {
  const auto [tensors, count] = reader.elements(graph, kGraphTensors, 4);
  std::vector<TfliteTensor> found;
  for (const auto index : reader.values<std::uint32_t, std::size_t>(graph, which)) {
    if (index >= count) {
      found.emplace_back();
      continue;
    }
    const auto tensor = reader.follow(tensors + 4 * index);
    found.push_back({.name = reader.text(tensor, kTensorName),
                     .quantization = quantization_of(reader, tensor)});
  }
  return found;
}

void add_quantization(const std::vector<TfliteTensor>& declared, std::vector<TensorSpec>& specs) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    auto found = std::ranges::find(declared, specs[i].name, &TfliteTensor::name);
    if (found == declared.end() && declared.size() == specs.size()) {
      found = declared.begin() + static_cast<std::ptrdiff_t>(i);
    }
    if (found != declared.end() && !is_floating(specs[i].dtype)) {
      specs[i].quantization = found->quantization;
    }
  }
}

}  // namespace

std::optional<TfliteSignature> find_tflite_signature(std::span<const std::byte> bytes) {
  FlatReader reader(bytes);
  const auto model = reader.follow(0);
  const auto [graphs, count] = reader.elements(model, kModelSubgraphs, 4);
  if (count == 0) {
    return std::nullopt;
  }
  const auto graph = reader.follow(graphs);
  TfliteSignature signature{.inputs = tensors_at(reader, graph, kGraphInputs),
                            .outputs = tensors_at(reader, graph, kGraphOutputs)};
  return reader.is_whole() ? std::optional(std::move(signature)) : std::nullopt;
}

void add_tflite_quantization(const std::filesystem::path& file, LoadReport& report) {
  const FileDescriptor open_file(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status{};
  if (!open_file.is_open() || ::fstat(open_file.get(), &status) != 0 || status.st_size == 0) {
    return;
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, open_file.get(), 0);
  if (mapped == MAP_FAILED) {
    return;
  }
  if (const auto signature = find_tflite_signature({static_cast<const std::byte*>(mapped), size})) {
    add_quantization(signature->inputs, report.inputs);
    add_quantization(signature->outputs, report.outputs);
  }
  ::munmap(mapped, size);
}

}  // namespace assay::openvino
