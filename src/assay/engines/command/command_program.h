#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/engines/command/line_pattern.h"
#include "assay/engines/command/quantity.h"
#include "assay/record/metric.h"
#include "assay/tensor/tensor.h"

namespace assay::command {

/// Layout of tensors in their files.
enum class FileFormat : std::uint8_t { kRaw, kNpy };

/// Where the command prints its numbers.
enum class Reads : std::uint8_t { kStdout, kStderr, kBoth };

/// A number of the whole launch, by a pattern whose first group it is.
struct MetricPattern {
  /// Which of several matches counts; kOnly: one is wanted.
  enum class Take : std::uint8_t { kOnly, kFirst, kLast, kMin, kMax };

  std::string name;
  LinePattern pattern;
  Unit unit;
  Better better = Better::kLower;
  Take take = Take::kOnly;
  bool is_optional = false;  ///< A launch may do without it.
};

/// A file or a program that the arguments name by {place:NAME}; engine/program_places.h says where
/// it lies.
struct Place {
  std::string md5;  ///< The digest of its content, checked at each load; empty: any.
};

/// The times of operators, by a pattern with a name and a time; absent if its pattern is.
struct OperatorPattern {
  LinePattern pattern;
  std::size_t name_group = 1;
  std::size_t time_group = 2;
  Unit unit = *find_program_unit("ms");
};

/// A command that makes inferences and times them itself: JSON in a file named *.command.json, as
/// docs/reference/engines.md#command describes it.
struct CommandProgram {
  std::filesystem::path folder;  ///< Folder of the file.
  /// Commands in order, whose outputs are read together; "argv" in the document is the only one.
  std::vector<std::vector<std::string>> steps;
  std::map<std::string, Place> places;
  std::string unsupported;              ///< Why it cannot run at all; empty: it can.
  std::vector<std::string> read_files;  ///< With placeholders: what is read after the output.
  std::int64_t pause_ns = 0;            ///< Pause before each run.
  std::map<std::string, std::string> env;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  FileFormat format = FileFormat::kRaw;
  LinePattern time_pattern;  ///< Absent: it prints no time of an inference in this way.
  Unit time_unit = *find_program_unit("ms");
  std::vector<MetricPattern> metrics;
  OperatorPattern operators;
  std::string observer;  ///< "PyTorchObserver": identifier of its lines; empty: there are none.
  Reads reads = Reads::kStdout;
  std::int64_t timeout_ns = 600'000'000'000;

  /// Tells whether an argument holds the placeholder, as "{threads}" or, open, "{build".
  [[nodiscard]] bool has_placeholder(std::string_view placeholder) const;
};

/// Errors: kNotFound; kCorrupt when it is not such a document, with what is wrong in it.
Result<CommandProgram> read_command_program(const std::filesystem::path& path);

}  // namespace assay::command

namespace assay {

template <>
inline constexpr auto kEnumNames<command::FileFormat> =
    std::to_array<EnumName<command::FileFormat>>(
        {{command::FileFormat::kRaw, "raw"}, {command::FileFormat::kNpy, "npy"}});

template <>
inline constexpr auto kEnumNames<command::Reads> =
    std::to_array<EnumName<command::Reads>>({{command::Reads::kStdout, "stdout"},
                                             {command::Reads::kStderr, "stderr"},
                                             {command::Reads::kBoth, "both"}});

template <>
inline constexpr auto kEnumNames<command::MetricPattern::Take> =
    std::to_array<EnumName<command::MetricPattern::Take>>({
        {command::MetricPattern::Take::kOnly, "only"},
        {command::MetricPattern::Take::kFirst, "first"},
        {command::MetricPattern::Take::kLast, "last"},
        {command::MetricPattern::Take::kMin, "min"},
        {command::MetricPattern::Take::kMax, "max"},
    });

}  // namespace assay
