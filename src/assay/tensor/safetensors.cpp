#include "assay/tensor/safetensors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <functional>
#include <ios>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/json_members.h"
#include "assay/base/result.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 256U << 20;
constexpr std::string_view kMetadataKey = "__metadata__";

constexpr auto kDtypeNames = std::to_array<std::pair<Dtype, std::string_view>>({
    {Dtype::kFloat64, "F64"},
    {Dtype::kFloat32, "F32"},
    {Dtype::kFloat16, "F16"},
    {Dtype::kBFloat16, "BF16"},
    {Dtype::kInt64, "I64"},
    {Dtype::kInt32, "I32"},
    {Dtype::kInt16, "I16"},
    {Dtype::kInt8, "I8"},
    {Dtype::kUInt8, "U8"},
    {Dtype::kUInt16, "U16"},
    {Dtype::kUInt32, "U32"},
    {Dtype::kUInt64, "U64"},
    {Dtype::kBool, "BOOL"},
});

/// Where one tensor lies in the data, before its bytes are taken.
struct Entry {
  std::string name;
  Dtype dtype = Dtype::kFloat32;
  Shape shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

std::unexpected<Error> fail_corrupt_safetensors(std::string what) {
  return fail(ErrorCode::kCorrupt, fmt::format("not a valid safetensors document: {}", what));
}

Result<Dtype> dtype_from_header(const Json& entry, std::string_view name) {
  const auto found = entry.find("dtype");
  if (found == entry.end() || !found->is_string()) {
    return fail_corrupt_safetensors(fmt::format("tensor '{}' has no dtype", name));
  }
  const auto& text = found->get_ref<const std::string&>();
  const auto* known =
      std::ranges::find(kDtypeNames, text, &std::pair<Dtype, std::string_view>::second);
  if (known == kDtypeNames.end()) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("tensor '{}' has the dtype '{}'; known: F64, F32, F16, BF16, I64, I32, "
                            "I16, I8, U8, U16, U32, U64, BOOL; convert it before saving",
                            name, text));
  }
  return known->first;
}

Result<std::vector<std::uint64_t>> numbers_from_header(const Json& entry, std::string_view field,
                                                       std::string_view name) {
  const auto found = entry.find(field);
  if (found == entry.end() || !found->is_array()) {
    return fail_corrupt_safetensors(fmt::format("tensor '{}' has no list '{}'", name, field));
  }
  std::vector<std::uint64_t> numbers;
  numbers.reserve(found->size());
  for (const auto& number : *found) {
    if (!number.is_number_unsigned()) {
      return fail_corrupt_safetensors(
          fmt::format("'{}' of tensor '{}' holds {}, not a whole number of at least 0", field, name,
                      number.dump(-1, ' ', true, Json::error_handler_t::replace)));
    }
    numbers.push_back(number.get<std::uint64_t>());
  }
  return numbers;
}

Result<Entry> entry_from_header(const std::string& name, const Json& json,
                                std::uint64_t data_bytes) {
  if (!json.is_object()) {
    return fail_corrupt_safetensors(fmt::format("the entry of tensor '{}' is not an object", name));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto dtype, dtype_from_header(json, name));
  ASSAY_ASSIGN_OR_RETURN(const auto shape, numbers_from_header(json, "shape", name));
  ASSAY_ASSIGN_OR_RETURN(const auto offsets, numbers_from_header(json, "data_offsets", name));
  const auto bytes = size_in_bytes(dtype, Shape(shape.begin(), shape.end()));
  if (!bytes) {
    return fail_corrupt_safetensors(fmt::format("the shape of tensor '{}' is too large", name));
  }
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_bytes) {
    return fail_corrupt_safetensors(fmt::format(
        "the data_offsets of tensor '{}' lie outside the {} bytes of data", name, data_bytes));
  }
  if (offsets[1] - offsets[0] != *bytes) {
    return fail_corrupt_safetensors(
        fmt::format("tensor '{}' needs {} bytes, its data_offsets give {}", name, *bytes,
                    offsets[1] - offsets[0]));
  }
  return Entry{name, dtype, Shape(shape.begin(), shape.end()), offsets[0], offsets[1]};
}

/// The tensors that a header declares, in order of name.
Result<std::vector<Entry>> entries_from_header(std::string_view text, std::uint64_t data_bytes) {
  std::vector<Entry> entries;
  std::optional<Error> refused;
  const auto read = visit_members(text, "its header", JsonComments::kRefused,
                                  [&](const std::string& name, const Json& json) -> Status {
                                    if (name == kMetadataKey) {
                                      return {};
                                    }
                                    auto entry = entry_from_header(name, json, data_bytes);
                                    if (!entry) {
                                      refused = entry.error();
                                      return std::unexpected(entry.error());
                                    }
                                    entries.push_back(*std::move(entry));
                                    return {};
                                  });
  if (refused) {
    return std::unexpected(*refused);
  }
  if (!read) {
    return fail_corrupt_safetensors(read.error().message);
  }
  std::ranges::sort(entries, {}, &Entry::name);
  return entries;
}

/// The format allows neither overlap nor holes: sorted, each tensor begins where the last one ends.
Status check_coverage(const std::vector<Entry>& entries, std::uint64_t data_bytes) {
  std::vector<const Entry*> order;
  order.reserve(entries.size());
  std::ranges::transform(entries, std::back_inserter(order), [](const Entry& e) { return &e; });
  std::ranges::sort(order, {}, [](const Entry* e) { return std::pair(e->begin, e->end); });
  std::uint64_t covered = 0;
  for (const auto* entry : order) {
    if (entry->begin != covered) {
      return fail_corrupt_safetensors(fmt::format(
          "tensor '{}' begins at byte {}, {} byte {}", entry->name, entry->begin,
          entry->begin < covered ? "overlapping one that ends at" : "leaving a hole after",
          covered));
    }
    covered = entry->end;
  }
  if (covered != data_bytes) {
    return fail_corrupt_safetensors(
        fmt::format("{} bytes of data belong to no tensor", data_bytes - covered));
  }
  return {};
}

std::uint64_t number_from_bytes(std::span<const std::byte> bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  }
  return length;
}

/// How long the header of a document of `size` bytes is. `begin`: its first kLengthBytes, or all.
Result<std::uint64_t> header_length(std::span<const std::byte> begin, std::uint64_t size) {
  if (begin.size() < kLengthBytes) {
    return fail_corrupt_safetensors(fmt::format("{} bytes are too few", begin.size()));
  }
  const auto length = number_from_bytes(begin);
  const auto rest = size - kLengthBytes;
  if (length > kMaxHeaderBytes || length > rest) {
    return fail_corrupt_safetensors(
        fmt::format("its header claims {} bytes; {} follow, and at most {} are read", length, rest,
                    kMaxHeaderBytes));
  }
  return length;
}

std::string_view safetensors_name(Dtype dtype) {
  return std::ranges::find(kDtypeNames, dtype, &std::pair<Dtype, std::string_view>::first)->second;
}

/// Wide elements first, so that every tensor is aligned to its element.
std::vector<const NamedTensor*> in_file_order(std::span<const NamedTensor> tensors) {
  std::vector<const NamedTensor*> order;
  order.reserve(tensors.size());
  for (const auto& tensor : tensors) {
    order.push_back(&tensor);
  }
  std::ranges::sort(order, [](const NamedTensor* a, const NamedTensor* b) {
    const auto a_size = size_of_dtype(a->tensor.dtype);
    const auto b_size = size_of_dtype(b->tensor.dtype);
    return a_size != b_size ? a_size > b_size : a->name < b->name;
  });
  return order;
}

/// Name, and what a header says of it.
using HeaderEntry = std::pair<std::string, std::string>;

/// Written piece by piece: a document of all entries takes ten times their text.
std::string header_of(std::span<const NamedTensor* const> order) {
  std::vector<HeaderEntry> entries;
  entries.reserve(order.size());
  std::uint64_t at = 0;
  for (const auto* item : order) {
    const auto& tensor = item->tensor;
    const auto expected =
        static_cast<std::size_t>(count_elements(tensor.shape)) * size_of_dtype(tensor.dtype);
    ASSAY_CHECK(tensor.data.size() == expected);
    ASSAY_CHECK(item->name != kMetadataKey);
    entries.emplace_back(
        item->name,
        fmt::format(R"({{"data_offsets":[{},{}],"dtype":"{}","shape":[{}]}})", at, at + expected,
                    safetensors_name(tensor.dtype), fmt::join(tensor.shape, ",")));
    at += expected;
  }
  std::ranges::sort(entries);
  std::string text = "{";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    ASSAY_CHECK(i == 0 || entries[i - 1].first != entries[i].first);
    if (i > 0) {
      text += ',';
    }
    text +=
        Json(entries[i].first).dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
    text += ':';
    text += entries[i].second;
  }
  text += '}';
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');
  return text;
}

/// A file whose header was read.
struct OpenDocument {
  std::ifstream file;
  std::uint64_t data_begin = 0;
  std::vector<Entry> entries;
};

Result<OpenDocument> open_document(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  OpenDocument document{.file = std::ifstream(path, std::ios::binary)};
  if (error || !document.file) {
    ASSAY_RETURN_IF_ERROR(read_file(path, 0));  // Says what is wrong with the path.
    return fail(ErrorCode::kUnavailable, fmt::format("cannot read {}", path.string()));
  }
  std::array<std::byte, kLengthBytes> begin{};
  document.file.read(reinterpret_cast<char*>(begin.data()), begin.size());
  const auto got = static_cast<std::size_t>(document.file.gcount());
  ASSAY_ASSIGN_OR_RETURN(const auto length, header_length(std::span(begin).first(got), size));
  std::string header(static_cast<std::size_t>(length), ' ');
  document.file.read(header.data(), static_cast<std::streamsize>(header.size()));
  document.data_begin = kLengthBytes + length;
  ASSAY_ASSIGN_OR_RETURN(document.entries, entries_from_header(header, size - document.data_begin));
  ASSAY_RETURN_IF_ERROR(check_coverage(document.entries, size - document.data_begin));
  return document;
}

Result<NamedTensor> read_tensor(OpenDocument& document, Entry& entry) {
  NamedTensor read{std::move(entry.name), {entry.dtype, std::move(entry.shape), {}}};
  read.tensor.data.resize(static_cast<std::size_t>(entry.end - entry.begin));
  document.file.seekg(static_cast<std::streamoff>(document.data_begin + entry.begin));
  document.file.read(reinterpret_cast<char*>(read.tensor.data.data()),
                     static_cast<std::streamsize>(read.tensor.data.size()));
  if (!document.file) {
    return fail_corrupt_safetensors(fmt::format("tensor '{}' cannot be read", read.name));
  }
  return read;
}

}  // namespace

Result<std::vector<NamedTensor>> tensors_from_safetensors(std::span<const std::byte> bytes) {
  ASSAY_ASSIGN_OR_RETURN(const auto length, header_length(bytes, bytes.size()));
  const auto rest = bytes.subspan(kLengthBytes);
  const auto data = rest.subspan(static_cast<std::size_t>(length));
  ASSAY_ASSIGN_OR_RETURN(auto entries,
                         entries_from_header({reinterpret_cast<const char*>(rest.data()),
                                              static_cast<std::size_t>(length)},
                                             data.size()));
  ASSAY_RETURN_IF_ERROR(check_coverage(entries, data.size()));
  std::vector<NamedTensor> tensors;
  tensors.reserve(entries.size());
  for (auto& entry : entries) {
    const auto piece = data.subspan(entry.begin, entry.end - entry.begin);
    tensors.push_back({std::move(entry.name),
                       {entry.dtype, std::move(entry.shape), {piece.begin(), piece.end()}}});
  }
  return tensors;
}

Result<std::vector<NamedTensor>> read_safetensors(const std::filesystem::path& path) {
  ASSAY_ASSIGN_OR_RETURN(const auto content, read_file(path));
  auto tensors = tensors_from_safetensors(std::as_bytes(std::span(content)));
  if (!tensors) {
    return fail_with_context(std::move(tensors).error(), path.string());
  }
  return tensors;
}

Result<std::vector<NamedTensor>> read_safetensors_where(
    const std::filesystem::path& path, const std::function<bool(std::string_view)>& is_wanted) {
  auto document = open_document(path);
  if (!document) {
    return fail_with_context(std::move(document).error(), path.string());
  }
  std::vector<NamedTensor> tensors;
  for (auto& entry : document->entries) {
    if (!is_wanted(entry.name)) {
      continue;
    }
    auto tensor = read_tensor(*document, entry);
    if (!tensor) {
      return fail_with_context(std::move(tensor).error(), path.string());
    }
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

std::vector<std::byte> safetensors_from_tensors(std::span<const NamedTensor> tensors) {
  const auto order = in_file_order(tensors);
  const auto header = header_of(order);
  std::vector<std::byte> bytes(kLengthBytes);
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    bytes[i] = static_cast<std::byte>((header.size() >> (8 * i)) & 0xff);
  }
  bytes.reserve(std::accumulate(
      order.begin(), order.end(), kLengthBytes + header.size(),
      [](std::size_t sum, const NamedTensor* item) { return sum + item->tensor.data.size(); }));
  const auto header_bytes = std::as_bytes(std::span(header));
  bytes.insert(bytes.end(), header_bytes.begin(), header_bytes.end());
  for (const auto* item : order) {
    bytes.insert(bytes.end(), item->tensor.data.begin(), item->tensor.data.end());
  }
  return bytes;
}

}  // namespace assay
