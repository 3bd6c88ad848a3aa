#pragma once

#include <cstdint>
#include <filesystem>
#include <regex>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/tensor/tensor.h"

namespace assay::command {

/// How tensors lie in their files.
enum class FileFormat : std::uint8_t { kRaw, kNpy };

/// A command that makes inferences and times them itself: JSON in a file named *.command.json.
///
///     {"argv": ["./my_bench", "--input={input:0}", "--output={output:0}", "-n", "{iterations}"],
///      "inputs": [{"name": "x", "dtype": "float32", "shape": [1, 4]}],
///      "outputs": [{"name": "y", "dtype": "float32", "shape": [1, 4]}],
///      "file_format": "raw",
///      "time_pattern": "inference: ([0-9.]+) ms", "time_unit": "ms",
///      "timeout_s": 600}
///
/// The command reads its inputs from the files {input:N}, infers {iterations} times, prints a time
/// for each and leaves the outputs of the last one in the files {output:N}. {inputs} and {outputs},
/// an argument each, become all of their files; {threads} becomes the option; {folder} is where the
/// JSON lies, and a first argument with a slash is meant from there. `file_format`: "raw" elements,
/// row-major, or "npy". `time_pattern`: a regular expression (ECMAScript) whose first group is a
/// time in `time_unit` (s, ms, us, ns), a decimal number with a point, found once for each
/// inference in what it prints to stdout. It is looked for line by line, in the first 1024 bytes of
/// each, and may not refer back to its groups.
struct CommandProgram {
  std::filesystem::path folder;
  std::vector<std::string> argv;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  FileFormat format = FileFormat::kRaw;
  std::string pattern_text;  ///< Empty: it prints no times, and cannot be timed.
  std::regex pattern;
  double unit_ns = 1e6;
  std::int64_t timeout_ns = 600'000'000'000;
};

/// Errors: kNotFound; kCorrupt when it is not such a document, with what is wrong in it.
Result<CommandProgram> read_command_program(const std::filesystem::path& path);

/// What stands for the placeholders.
struct Values {
  std::vector<std::string> inputs;   ///< Files.
  std::vector<std::string> outputs;  ///< Files.
  int iterations = 1;
  int threads = 0;  ///< 0: as the command likes, and {threads} is an error.
};

bool takes_threads(const CommandProgram& program);

/// The command line. Errors: kInvalidArgument for a placeholder without a value.
Result<std::vector<std::string>> argv_from(const CommandProgram& program, const Values& values);

/// The times that the command printed, with the step of the last digit of the coarsest one. Errors:
/// kEngine when they are not `count`, or one of them is no decimal number of at least 0, as "1,5",
/// "nan" and "1.2.3" are not.
Result<SelfTimer::Times> times_from(const CommandProgram& program, const std::string& printed,
                                    int count);

}  // namespace assay::command
