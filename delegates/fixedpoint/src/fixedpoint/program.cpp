#include "fixedpoint/program.h"

#include "fixedpoint/format.h"
#include "fixedpoint/result.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace fixedpoint {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;

std::uint64_t align(std::uint64_t value) {
  return (value + kAlignment - 1) / kAlignment * kAlignment;
}

std::optional<std::uint64_t> element_bytes(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
    case DType::kUint8:
      return 1;
    case DType::kInt16:
      return 2;
    case DType::kInt32:
    case DType::kFloat32:
      return 4;
    case DType::kInt64:
      return 8;
  }
  return std::nullopt;
}

/// Copies `count` records from `offset` and moves it behind them, aligned.
template <class T>
Result<std::vector<T>> read_section(std::span<const std::byte> blob, std::uint64_t& offset,
                                    std::uint64_t count, const char* what) {
  if (offset > blob.size() || count > (blob.size() - offset) / sizeof(T)) {
    return fail(std::string("the blob ends inside of its ") + what);
  }
  std::vector<T> records(count);
  if (count > 0) {
    std::memcpy(records.data(), blob.data() + offset, count * sizeof(T));
  }
  offset = align(offset + count * sizeof(T));
  return records;
}

Result<Header> read_header(std::span<const std::byte> blob) {
  if (blob.size() < sizeof(Header)) {
    return fail("the blob is shorter than its header");
  }
  Header header;
  std::memcpy(&header, blob.data(), sizeof header);
  if (header.magic != kMagic) {
    return fail("this is no fixed-point program");
  }
  if (header.format_version != kFormatVersion || header.semantics_version != kSemanticsVersion) {
    return fail("the program has format " + std::to_string(header.format_version) +
                " and semantics " + std::to_string(header.semantics_version) +
                ", this runtime has " + std::to_string(kFormatVersion) + " and " +
                std::to_string(kSemanticsVersion) + "; lower it anew, or take the other runtime");
  }
  if (header.total_bytes > blob.size() || header.total_bytes % 8 != 0) {
    return fail("the blob is cut off");
  }
  if (header.alignment != kAlignment || header.arena_bytes > kMaxBytes) {
    return fail("the blob's header is corrupt");
  }
  if (checksum_of(blob.first(header.total_bytes)) != header.checksum) {
    return fail("the blob is corrupt: its checksum is another");
  }
  return header;
}

Status check_shape(const TensorRecord& tensor) {
  const auto size = element_bytes(tensor.dtype);
  if (!size || tensor.rank > kMaxRank) {
    return fail("it has no known type, or too many dimensions");
  }
  std::uint64_t bytes = *size;
  for (int i = 0; i < tensor.rank; ++i) {
    if (tensor.dims[i] > kMaxBytes / bytes) {  // before the product, which may leave 64 bits
      return fail("it is too large");
    }
    bytes *= tensor.dims[i];
    if (bytes == 0) {
      break;
    }
  }
  if (bytes != tensor.bytes || bytes == 0) {
    return fail("its size is not that of its shape");
  }
  return {};
}

/// Inputs and outputs of the program may be stored in another order, which is a permutation.
Status check_order(const TensorRecord& tensor) {
  const bool is_boundary = tensor.place == Place::kInput || tensor.place == Place::kOutput;
  std::uint32_t found = 0;
  for (int place = 0; place < tensor.rank; ++place) {
    found |= 1U << dimension_at(tensor, place);
  }
  const bool is_whole = found == (1U << tensor.rank) - 1 && tensor.order >> (4 * tensor.rank) == 0;
  return tensor.order == 0 || (is_boundary && is_whole) ? Status{} : fail("its order is none");
}

/// A program's input or output is the one that its list names: no other tensor has a place.
bool is_listed(std::span<const std::uint32_t> list, std::uint64_t position, std::size_t tensor) {
  return position < list.size() && list[position] == tensor;
}

Status check_place(const Program& program, std::size_t index) {
  const auto& tensor = program.tensors[index];
  const auto is_inside = [&](std::uint64_t total) {
    return tensor.offset <= total && tensor.bytes <= total - tensor.offset;
  };
  switch (tensor.place) {
    case Place::kArena:
      if (!is_inside(program.arena_bytes) || tensor.offset % kAlignment != 0) {
        return fail("it leaves the arena");
      }
      return {};
    case Place::kConstant:
      if (!is_inside(program.blob.size()) || tensor.offset % kAlignment != 0) {
        return fail("its content is not in the blob");
      }
      return {};
    case Place::kInput:
      return is_listed(program.inputs, tensor.offset, index) ? Status{} : fail("it is no input");
    case Place::kOutput:
      return is_listed(program.outputs, tensor.offset, index) ? Status{} : fail("it is no output");
  }
  return fail("it lies nowhere");
}

Status check_tensors(const Program& program) {
  for (std::size_t i = 0; i < program.tensors.size(); ++i) {
    auto status = check_shape(program.tensors[i]);
    if (status) {
      status = check_place(program, i);
    }
    if (status) {
      status = check_order(program.tensors[i]);
    }
    if (!status) {
      return fail("tensor " + std::to_string(i) + ": " + status.error());
    }
  }
  return {};
}

/// An arena is as large as what lies in it.
Status check_arena(const Program& program) {
  std::uint64_t end = 0;
  for (const auto& tensor : program.tensors) {
    if (tensor.place == Place::kArena) {
      end = std::max(end, align(tensor.offset + tensor.bytes));
    }
  }
  return program.arena_bytes <= end ? Status{} : fail("the arena is larger than its tensors need");
}

Status check_boundary(const Program& program, std::span<const std::uint32_t> list, Place place) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool is_tensor = list[i] < program.tensors.size();
    if (!is_tensor || program.tensors[list[i]].place != place ||
        program.tensors[list[i]].offset != i) {
      return fail("an input or output of the program is another tensor's");
    }
  }
  return {};
}

Status check_indices(const Program& program) {
  std::vector<bool> is_made(program.tensors.size());
  for (std::size_t i = 0; i < program.tensors.size(); ++i) {
    const auto place = program.tensors[i].place;
    is_made[i] = place == Place::kConstant || place == Place::kInput;
  }
  for (const auto& operation : program.operations) {
    if (operation.first_input > program.indices.size() ||
        operation.input_count > program.indices.size() - operation.first_input) {
      return fail("an operation's inputs lie outside of the list");
    }
    for (const auto index : program.inputs_of(operation)) {
      if (index != kAbsent && (index >= program.tensors.size() || !is_made[index])) {
        return fail("an operation reads a tensor that nothing has made");
      }
    }
    if (operation.output >= program.tensors.size() || is_made[operation.output]) {
      return fail("an operation writes a tensor that is there already");
    }
    is_made[operation.output] = true;
  }
  const auto is_missing = [&](std::uint32_t index) { return !is_made[index]; };
  return std::ranges::any_of(program.outputs, is_missing)
             ? Status(fail("nothing makes an output of the program"))
             : Status();
}

/// Steps from the one that makes a tensor to the last that reads it.
struct Lifetime {
  std::size_t first = 0;
  std::size_t last = 0;
};

std::vector<Lifetime> lifetimes_of(const Program& program) {
  std::vector<Lifetime> lifetimes(program.tensors.size());
  for (std::size_t step = 0; step < program.operations.size(); ++step) {
    const auto& operation = program.operations[step];
    lifetimes[operation.output] = {step, step};
    for (const auto index : program.inputs_of(operation)) {
      if (index != kAbsent) {
        lifetimes[index].last = step;
      }
    }
  }
  return lifetimes;
}

/// True if the operation reads the tensor and its output may lie exactly where the tensor does.
bool may_take_over(const Program& program, const OperationRecord& operation, std::uint32_t other) {
  const auto inputs = program.inputs_of(operation);
  const bool is_elementwise = operation.kind == Kind::kAdd || operation.kind == Kind::kMul ||
                              operation.kind == Kind::kTable;
  const auto& made = program.tensors[operation.output];
  const auto& read = program.tensors[other];
  return is_elementwise && std::ranges::find(inputs, other) != inputs.end() &&
         made.offset == read.offset && made.bytes == read.bytes;
}

/// A reshape whose result lies where its input does writes nothing.
bool writes_nothing(const Program& program, const OperationRecord& operation) {
  const auto& made = program.tensors[operation.output];
  if (!is_reshape(operation) || program.inputs_of(operation).empty()) {
    return false;
  }
  const auto input = program.inputs_of(operation).front();
  if (input == kAbsent || program.tensors[input].place != Place::kArena) {
    return false;
  }
  return program.tensors[input].offset == made.offset && program.tensors[input].bytes == made.bytes;
}

/// No operation writes over what is read later, or over what it reads unless it works in place.
Status check_overlaps(const Program& program) {
  const auto lifetimes = lifetimes_of(program);
  for (std::size_t step = 0; step < program.operations.size(); ++step) {
    const auto& operation = program.operations[step];
    const auto& made = program.tensors[operation.output];
    if (made.place != Place::kArena || writes_nothing(program, operation)) {
      continue;
    }
    for (std::uint32_t other = 0; other < program.tensors.size(); ++other) {
      const auto& kept = program.tensors[other];
      const auto& life = lifetimes[other];
      const bool lives = kept.place == Place::kArena && life.first < step && life.last >= step;
      const bool overlaps =
          made.offset < kept.offset + kept.bytes && kept.offset < made.offset + made.bytes;
      const bool is_allowed = life.last == step && may_take_over(program, operation, other);
      if (lives && overlaps && !is_allowed) {
        return fail("operation " + std::to_string(step) + " writes over a tensor that is needed");
      }
    }
  }
  return {};
}

}  // namespace

std::uint32_t dimension_at(const TensorRecord& tensor, int place) {
  return tensor.order == 0 ? place : (tensor.order >> (4 * place)) & 0xF;
}

bool has_order(const TensorRecord& tensor, std::span<const std::uint8_t> order) {
  if (order.size() != tensor.rank) {
    return false;
  }
  std::array<std::uint32_t, kMaxRank> sizes = {};
  for (int place = 0; place < tensor.rank; ++place) {
    sizes[dimension_at(tensor, place)] = tensor.dims[place];
  }
  const auto is_skipped = [&](std::uint32_t dimension) { return sizes[dimension] == 1; };
  std::size_t at = 0;
  for (int place = 0; place < tensor.rank; ++place) {
    const auto dimension = dimension_at(tensor, place);
    if (is_skipped(dimension)) {
      continue;
    }
    while (at < order.size() && order[at] < tensor.rank && is_skipped(order[at])) {
      ++at;
    }
    if (at >= order.size() || order[at] != dimension) {
      return false;
    }
    ++at;
  }
  return true;
}

bool is_reshape(const OperationRecord& operation) {
  const auto& a = operation.attributes;  // rank, offset, six dimensions, six strides
  return operation.kind == Kind::kCopy && a[0] == 1 && a[1] == 0 && a[8] == 1;
}

std::uint64_t checksum_of(std::span<const std::byte> blob) {
  constexpr std::size_t kOwnWord = offsetof(Header, checksum) / 8;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < blob.size() / 8; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, blob.data() + 8 * i, 8);
    sum += word * (2 * i + 1);
  }
  std::uint64_t own = 0;
  if (blob.size() >= sizeof(Header)) {
    std::memcpy(&own, blob.data() + 8 * kOwnWord, 8);
  }
  return sum - own * (2 * kOwnWord + 1);
}

Result<Program> read_program(std::span<const std::byte> blob) {
  const auto header = read_header(blob);
  if (!header) {
    return fail(header.error());
  }
  Program program{.blob = blob.first(header->total_bytes), .arena_bytes = header->arena_bytes};
  std::uint64_t offset = sizeof(Header);
  auto tensors = read_section<TensorRecord>(program.blob, offset, header->tensor_count, "tensors");
  if (!tensors) {
    return fail(tensors.error());
  }
  auto operations =
      read_section<OperationRecord>(program.blob, offset, header->operation_count, "operations");
  if (!operations) {
    return fail(operations.error());
  }
  auto indices = read_section<std::uint32_t>(program.blob, offset, header->index_count, "indices");
  if (!indices) {
    return fail(indices.error());
  }
  const auto boundary_count = std::uint64_t{header->input_count} + header->output_count;
  auto boundary = read_section<std::uint32_t>(program.blob, offset, boundary_count, "boundary");
  if (!boundary) {
    return fail(boundary.error());
  }
  program.tensors = std::move(*tensors);
  program.operations = std::move(*operations);
  program.indices = std::move(*indices);
  program.inputs.assign(boundary->begin(), boundary->begin() + header->input_count);
  program.outputs.assign(boundary->begin() + header->input_count, boundary->end());
  for (const auto& status : {check_tensors(program), check_arena(program),
                             check_boundary(program, program.inputs, Place::kInput),
                             check_boundary(program, program.outputs, Place::kOutput)}) {
    if (!status) {
      return fail(status.error());
    }
  }
  if (auto status = check_indices(program); !status) {
    return fail(status.error());
  }
  if (auto status = check_overlaps(program); !status) {
    return fail(status.error());
  }
  return program;
}

}  // namespace fixedpoint
