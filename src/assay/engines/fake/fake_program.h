#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/engines/fake/lies.h"
#include "assay/engines/fake/misbehavior.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay::fake {

enum class Rule : std::uint8_t {
  kAffine,    ///< y = a * x + b over the flattened first input, repeated to fill each output.
  kConstant,  ///< y = b
  kRandom,    ///< Other numbers at every execute.
};

/// Ways in which a broken kernel falsifies a correct output.
enum class Fault : std::uint8_t {
  kStale,       ///< That of the first execute, for ever.
  kZero,        ///< All zeros.
  kNanToZero,   ///< NaN becomes 0.
  kOneElement,  ///< The last element off by one.
  kSwapped,     ///< The first two elements change places.
  kNegated,     ///< The sign is lost.
};

struct OutputFault {
  std::size_t output = 0;
  Fault fault = Fault::kZero;
};

/// A program of the fake engine: JSON in a file named *.fake.json.
///
///     {"inputs": [{"name": "x", "dtype": "float32", "shape": [1, 4]}],
///      "outputs": [{"name": "y", "dtype": "float32", "shape": [1, 4]}],
///      "output": {"rule": "affine", "a": 2, "b": 1},
///      "load_ns": 1000000, "execute_ns": 500000, "wrong": 0.5, "leak_bytes": 4096,
///      "leak_load_bytes": 4096, "faults": [{"output": 0, "do": "stale"}],
///      "multiply_adds": 1000000, "stream_bytes": 67108864,
///      "warmup": {"executes": 40, "ratio": 0.3},
///      "helpers": 1, "helper_ns": 20000000,
///      "delegates": ["fakexla"], "declared_memory": [{"name": "arena", "bytes": 100}],
///      "emulator": "an emulator of the NPU",
///      "misbehave": {"at": "steady", "do": "segfault", "after": 3},
///      "lies": [{"answer": "measure", "body": {"iterations": 0}}]}
///
/// All is optional. dtypes: float64, float32, bool and all integers.
struct FakeProgram {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::int64_t load_ns = 0;
  std::int64_t execute_ns = 0;     ///< Spun away.
  std::int64_t multiply_adds = 0;  ///< Worked off; see work.h.
  std::int64_t stream_bytes = 0;
  std::int64_t warmup_executes = 0;  ///< After the first one, so many do more multiply-adds:
  double warmup_ratio = 0;           ///< so much more of them, falling linearly to nothing.
  int helpers = 0;                   ///< Threads that spin while another one executes:
  std::int64_t helper_ns = 0;        ///< so long after the load, and then they sleep; 0: always.
  Rule rule = Rule::kAffine;
  double a = 1;
  double b = 0;
  double wrong = 0;                  ///< Added to every output element.
  std::vector<OutputFault> faults;   ///< Faults of single outputs.
  std::int64_t leak_bytes = 0;       ///< Lost at every execute.
  std::int64_t leak_load_bytes = 0;  ///< Lost at every load.
  std::vector<std::string> delegates;
  std::vector<NamedBytes> declared_memory;
  std::string emulator;
  Misbehavior misbehavior;
  std::vector<Lie> lies;  ///< Lies in the answers of its runner; see lies.h.
};

/// Errors: kNotFound; kCorrupt when it is not such a program; kUnsupported for a dtype.
Result<FakeProgram> read_fake_program(const std::filesystem::path& path);

}  // namespace assay::fake

template <>
inline constexpr auto assay::kEnumNames<assay::fake::Rule> =
    std::to_array<assay::EnumName<assay::fake::Rule>>({
        {assay::fake::Rule::kAffine, "affine"},
        {assay::fake::Rule::kConstant, "constant"},
        {assay::fake::Rule::kRandom, "random"},
    });

template <>
inline constexpr auto assay::kEnumNames<assay::fake::Fault> =
    std::to_array<assay::EnumName<assay::fake::Fault>>({
        {assay::fake::Fault::kStale, "stale"},
        {assay::fake::Fault::kZero, "zero"},
        {assay::fake::Fault::kNanToZero, "nan_to_zero"},
        {assay::fake::Fault::kOneElement, "one_element"},
        {assay::fake::Fault::kSwapped, "swapped"},
        {assay::fake::Fault::kNegated, "negated"},
    });
