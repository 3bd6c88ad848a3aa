#include "assay/tensor/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;

constexpr auto kDescriptions = std::to_array<std::pair<Dtype, std::string_view>>({
    {Dtype::kFloat64, "<f8"},
    {Dtype::kFloat32, "<f4"},
    {Dtype::kFloat16, "<f2"},
    {Dtype::kInt64, "<i8"},
    {Dtype::kInt32, "<i4"},
    {Dtype::kInt16, "<i2"},
    {Dtype::kInt8, "|i1"},
    {Dtype::kUInt8, "|u1"},
    {Dtype::kUInt16, "<u2"},
    {Dtype::kUInt32, "<u4"},
    {Dtype::kUInt64, "<u8"},
    {Dtype::kBool, "|b1"},
});

std::unexpected<Error> fail_corrupt_npy(std::string_view what) {
  return fail(ErrorCode::kCorrupt, fmt::format("not a valid .npy document: {}", what));
}

/// Reads the header, a Python dictionary of three known keys, from front to back.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  bool take(std::string_view token) {
    skip_space();
    const bool is_there = rest_.starts_with(token);
    rest_.remove_prefix(is_there ? token.size() : 0);
    return is_there;
  }

  /// 'text' without escapes.
  std::optional<std::string_view> take_string() {
    if (!take("'")) {
      return std::nullopt;
    }
    const auto end = rest_.find('\'');
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    const auto text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }

  /// (), (3,), (2, 3)
  std::optional<Shape> take_shape() {
    Shape shape;
    if (!take("(")) {
      return std::nullopt;
    }
    while (!take(")")) {
      std::int64_t dimension = 0;
      const auto [end, error] =
          std::from_chars(rest_.data(), rest_.data() + rest_.size(), dimension);
      if (error != std::errc{} || dimension < 0) {
        return std::nullopt;
      }
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      shape.push_back(dimension);
      if (!take(",") && !rest_.starts_with(')')) {
        return std::nullopt;
      }
    }
    return shape;
  }

  bool is_at_end() {
    skip_space();
    return rest_.empty();
  }

 private:
  void skip_space() {
    const auto first = rest_.find_first_not_of(" \n");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
  }

  std::string_view rest_;
};

struct Header {
  std::string_view description;
  bool is_fortran = false;
  Shape shape;
};

bool take_description(HeaderReader& reader, Header& header) {
  const auto text = reader.take_string();
  header.description = text.value_or(std::string_view());
  return text.has_value();
}

bool take_order(HeaderReader& reader, Header& header) {
  header.is_fortran = reader.take("True");
  return header.is_fortran || reader.take("False");
}

bool take_shape(HeaderReader& reader, Header& header) {
  const auto shape = reader.take_shape();
  header.shape = shape.value_or(Shape());
  return shape.has_value();
}

struct Field {
  std::string_view key;
  bool (*take)(HeaderReader&, Header&);
};

constexpr auto kFields = std::to_array<Field>(
    {{"descr", take_description}, {"fortran_order", take_order}, {"shape", take_shape}});

/// Takes one field; `seen` tells which have been taken, each of them once.
bool take_field(HeaderReader& reader, Header& header, std::array<bool, kFields.size()>& seen) {
  const auto key = reader.take_string();
  const auto* field = std::ranges::find(kFields, key.value_or(std::string_view()), &Field::key);
  if (field == kFields.end() || !reader.take(":")) {
    return false;
  }
  const auto index = static_cast<std::size_t>(field - kFields.begin());
  return !std::exchange(seen.at(index), true) && field->take(reader, header);
}

Result<Header> parse_npy_header(std::string_view text) {
  HeaderReader reader(text);
  Header header;
  std::array<bool, kFields.size()> seen{};
  bool is_well_formed = reader.take("{");
  while (is_well_formed && !reader.take("}")) {
    is_well_formed = take_field(reader, header, seen);
    reader.take(",");
  }
  const bool is_complete = std::ranges::all_of(seen, std::identity());
  if (!is_well_formed || !is_complete || !reader.is_at_end()) {
    return fail_corrupt_npy("its header is not {'descr': …, 'fortran_order': …, 'shape': …}");
  }
  return header;
}

/// The header's text and, after it, the data.
Result<std::pair<std::string_view, std::span<const std::byte>>> split_document(
    std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  constexpr std::size_t kVersionBytes = 2;
  const std::size_t length_at = kMagic.size() + kVersionBytes;
  if (!text.starts_with(kMagic) || text.size() < length_at) {
    return fail_corrupt_npy("it does not begin with \\x93NUMPY");
  }
  const auto version = std::to_integer<int>(bytes[kMagic.size()]);
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  if (version < 1 || version > 3 || text.size() < length_at + length_bytes) {
    return fail_corrupt_npy("its version is not 1, 2 or 3");
  }
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= std::to_integer<std::size_t>(bytes[length_at + i]) << (8 * i);
  }
  const std::size_t header_at = length_at + length_bytes;
  if (length > text.size() - header_at) {
    return fail_corrupt_npy("its header is longer than the file");
  }
  return std::pair(text.substr(header_at, length), bytes.subspan(header_at + length));
}

}  // namespace

Result<Tensor> tensor_from_npy(std::span<const std::byte> bytes) {
  ASSAY_ASSIGN_OR_RETURN(const auto parts, split_document(bytes));
  ASSAY_ASSIGN_OR_RETURN(auto header, parse_npy_header(parts.first));
  const auto* known = std::ranges::find(kDescriptions, header.description,
                                        &std::pair<Dtype, std::string_view>::second);
  if (known == kDescriptions.end()) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("numpy's dtype '{}' is not read; convert it, for example with "
                            "array.astype('<f4')",
                            header.description));
  }
  const auto size = size_in_bytes(known->first, header.shape);
  if (size != parts.second.size()) {
    return fail_corrupt_npy(fmt::format("the shape {} does not fit {} bytes of data",
                                        text_from_shape(header.shape), parts.second.size()));
  }
  if (header.is_fortran && header.shape.size() > 1) {
    return fail(ErrorCode::kUnsupported,
                "Fortran order is not read; save numpy.ascontiguousarray(array) instead");
  }
  return Tensor{known->first, std::move(header.shape), {parts.second.begin(), parts.second.end()}};
}

Result<Tensor> read_npy(const std::filesystem::path& path) {
  ASSAY_ASSIGN_OR_RETURN(const auto content, read_file(path));
  auto tensor = tensor_from_npy(std::as_bytes(std::span(content)));
  if (!tensor) {
    return fail_with_context(std::move(tensor).error(), path.string());
  }
  return tensor;
}

Result<std::vector<std::byte>> npy_from_tensor(const TensorView& tensor) {
  const auto* known =
      std::ranges::find(kDescriptions, tensor.dtype, &std::pair<Dtype, std::string_view>::first);
  if (known == kDescriptions.end()) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("numpy has no {}; write safetensors instead", name_of(tensor.dtype)));
  }
  auto header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", known->second,
                  fmt::join(tensor.shape, ", "), tensor.shape.size() == 1 ? "," : "");
  constexpr std::size_t kPrefixBytes = 10;
  const auto unpadded = kPrefixBytes + header.size() + 1;
  header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  header += '\n';
  if (header.size() > std::numeric_limits<std::uint16_t>::max()) {
    return fail(ErrorCode::kUnsupported, "a shape of this rank does not fit a .npy header");
  }
  std::string document(kMagic);
  document += '\x01';
  document += '\0';
  document += static_cast<char>(header.size() & 0xff);
  document += static_cast<char>(header.size() >> 8);
  document += header;
  const auto front = std::as_bytes(std::span(document));
  std::vector<std::byte> bytes(front.begin(), front.end());
  bytes.insert(bytes.end(), tensor.data.begin(), tensor.data.end());
  return bytes;
}

}  // namespace assay
