#include "assay/engines/command/command_session.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/engine/input_check.h"
#include "assay/engine/session.h"
#include "assay/engines/command/awaited_files.h"
#include "assay/engines/command/command_line.h"
#include "assay/engines/command/command_program.h"
#include "assay/engines/command/line_pattern.h"
#include "assay/engines/command/operator_events.h"
#include "assay/engines/command/printed_values.h"
#include "assay/record/launch.h"
#include "assay/tensor/npy.h"
#include "assay/tensor/tensor.h"

namespace assay::command {
namespace {

constexpr std::size_t kMostWords = 400;

std::vector<std::string> file_names(const std::filesystem::path& folder, std::string_view stem,
                                    std::size_t count, FileFormat format) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    const auto* ending = format == FileFormat::kNpy ? "npy" : "raw";
    names.push_back((folder / fmt::format("{}{}.{}", stem, i, ending)).string());
  }
  return names;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Status write_input(const TensorView& input, FileFormat format, const std::string& file) {
  if (format == FileFormat::kRaw) {
    return write_file_atomically(file, text_of(input.data));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto document, npy_from_tensor(input));
  return write_file_atomically(file, text_of(document));
}

/// The end of what a failed command said.
std::string last_words(const std::filesystem::path& file) {
  const auto words = read_file(file).value_or("");
  return words.size() > kMostWords ? "…" + words.substr(words.size() - kMostWords) : words;
}

std::chrono::milliseconds ms_from_ns(std::int64_t ns) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds(ns));
}

constexpr std::size_t kMostShownOfPrinted = 200;

/// Makes every folder {scratch:NAME} that a step names.
Status make_scratch_folders(const CommandProgram& program, const std::filesystem::path& scratch) {
  constexpr std::string_view kOpening = "{scratch:";
  for (const auto& step : program.steps) {
    for (const auto& argument : step) {
      for (auto at = argument.find(kOpening); at != std::string::npos;
           at = argument.find(kOpening, at + 1)) {
        const auto begin = at + kOpening.size();
        std::error_code error;
        std::filesystem::create_directories(
            scratch / argument.substr(begin, argument.find('}', begin) - begin), error);
        if (error) {
          return fail(ErrorCode::kExhausted,
                      fmt::format("cannot make a folder of '{}': {}", argument, error.message()));
        }
      }
    }
  }
  return {};
}

/// Says what is wrong with the times of a row.
std::string complaint_about_times(const CommandProgram& program, const PrintedValues& values,
                                  std::size_t wanted, const std::string& printed) {
  const auto cut = values.has_long_lines
                       ? fmt::format(" in the first {} bytes of its lines", kMostMatchedBytes)
                       : std::string();
  return fmt::format("the command printed {} times of {} that match '{}'{}; it printed: {}",
                     values.times_ns.size(), wanted, program.time_pattern.text(), cut,
                     printed.substr(0, kMostShownOfPrinted));
}

/// Refuses an output that tells neither a time nor a number.
Status check_told(const CommandProgram& program, const PrintedValues& values,
                  const std::string& printed) {
  if (!values.times_ns.empty() || !values.metrics.empty()) {
    return {};
  }
  return fail(
      ErrorCode::kEngine,
      fmt::format("the command printed no line with '{} ' and a time of NET, or a number of "
                  "the launch; it printed: {}",
                  program.observer, printed.substr(0, kMostShownOfPrinted)));
}

}  // namespace

CommandSession::CommandSession(CommandProgram program, LoadReport report,
                               const SessionSettings& settings, TemporaryFolder folder)
    : program_(std::move(program)), report_(std::move(report)), folder_(std::move(folder)) {
  // Numbers are printed with a point, whatever the user's language.
  environment_ = program_.env;
  environment_.emplace("LC_ALL", "C.UTF-8");
  values_.threads = settings.threads;
  values_.build = settings.build;
  values_.places = settings.places;
  values_.scratch = folder_.path() / "scratch";
  values_.inputs = file_names(folder_.path(), "input", program_.inputs.size(), program_.format);
  values_.outputs = file_names(folder_.path(), "output", program_.outputs.size(), program_.format);
}

Result<std::unique_ptr<CommandSession>> CommandSession::open(CommandProgram program,
                                                             LoadReport report,
                                                             const SessionSettings& settings) {
  ASSAY_ASSIGN_OR_RETURN(auto folder, TemporaryFolder::make("assay-command"));
  std::unique_ptr<CommandSession> session(
      new CommandSession(std::move(program), std::move(report), settings, std::move(folder)));
  ASSAY_RETURN_IF_ERROR(command_lines_from(session->program_, session->values_));
  ASSAY_RETURN_IF_ERROR(make_scratch_folders(session->program_, session->values_.scratch));
  return session;
}

Status CommandSession::bind(std::span<const TensorView> inputs) {
  ASSAY_RETURN_IF_ERROR(check_inputs(inputs, program_.inputs));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(write_input(inputs[i], program_.format, values_.inputs[i]));
  }
  return {};
}

Result<std::string> CommandSession::run_step(const std::vector<std::string>& argv) const {
  const auto words = folder_.path() / "stderr";
  std::filesystem::remove(words);
  ASSAY_ASSIGN_OR_RETURN(
      auto output, run_command({.argv = argv, .env = environment_, .stderr_file = words.string()},
                               ms_from_ns(program_.timeout_ns)));
  if (output.signal != 0) {
    return fail(ErrorCode::kCrashed, fmt::format("'{}' was ended by signal {}: {}", argv.front(),
                                                 output.signal, last_words(words)));
  }
  if (output.exit_code != 0) {
    return fail(ErrorCode::kEngine, fmt::format("'{}' ended with exit code {}: {}", argv.front(),
                                                output.exit_code, last_words(words)));
  }
  if (program_.reads == Reads::kStdout) {
    return std::move(output.output);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto said, read_file(words, kMostReadBytes));
  return program_.reads == Reads::kStderr ? said : output.output + "\n" + said;
}

Result<std::string> CommandSession::run(int iterations, int warmup) {
  values_.iterations = iterations;
  values_.warmup = warmup;
  ASSAY_RETURN_IF_ERROR(remove_old_results());
  ASSAY_ASSIGN_OR_RETURN(const auto lines, command_lines_from(program_, values_));
  std::this_thread::sleep_for(std::chrono::nanoseconds(program_.pause_ns));
  std::vector<std::string> files;
  for (const auto& file : program_.read_files) {
    ASSAY_ASSIGN_OR_RETURN(files.emplace_back(), text_from_template(file, program_, values_));
  }
  const AwaitedFiles awaited(std::move(files));
  std::string printed;
  for (const auto& argv : lines) {
    ASSAY_ASSIGN_OR_RETURN(const auto one, run_step(argv));
    printed += (printed.empty() ? "" : "\n") + one;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto written, awaited.read_written());
  return printed + written;
}

/// Keeps results of one inference from being taken for those of the next.
Status CommandSession::remove_old_results() {
  std::error_code error;
  for (const auto& output : values_.outputs) {
    std::filesystem::remove_all(output, error);
    if (error) {
      return fail(ErrorCode::kEngine, fmt::format("cannot remove '{}', which an earlier inference "
                                                  "left: {}",
                                                  output, error.message()));
    }
  }
  std::filesystem::remove_all(values_.scratch, error);
  if (error) {  // Another user's files, as a container leaves them.
    values_.scratch = folder_.path() / fmt::format("scratch{}", ++left_folders_);
  }
  return make_scratch_folders(program_, values_.scratch);
}

Result<PrintedValues> CommandSession::run_for_values(int iterations, int warmup) {
  ASSAY_ASSIGN_OR_RETURN(const auto printed, run(iterations, warmup));
  return values_from_printed(program_, printed);
}

Status CommandSession::execute() {
  views_.clear();
  ASSAY_RETURN_IF_ERROR(run(1, 0));
  return {};
}

/// Tells whether the command warms up by itself, so that it prints the other times alone.
bool CommandSession::warms_up_itself() const {
  return program_.has_placeholder("{warmup}") || !program_.has_placeholder("{iterations}");
}

Result<SelfTimer::Times> CommandSession::time_inferences(const Row& row) {
  const bool tells_times = !program_.time_pattern.is_absent() || !program_.observer.empty();
  if (!tells_times && program_.metrics.empty()) {
    return fail(ErrorCode::kUnsupported,
                "the program has no \"time_pattern\", \"metrics\" or \"observer\": its times are "
                "not known");
  }
  const bool is_warm = program_.has_placeholder("{warmup}");
  ASSAY_ASSIGN_OR_RETURN(const auto printed,
                         run(is_warm ? row.iterations : row.count(), row.warmup));
  ASSAY_ASSIGN_OR_RETURN(auto values, values_from_printed(program_, printed));
  const auto count = values.times_ns.size();
  const auto wanted = static_cast<std::size_t>(is_warm ? row.iterations : row.count());
  const bool chooses_count = !program_.has_placeholder("{iterations}");
  const bool is_wrong = chooses_count ? count == 0 : count != wanted;
  if (!program_.time_pattern.is_absent() && is_wrong) {
    return fail(ErrorCode::kEngine, complaint_about_times(program_, values, wanted, printed));
  }
  ASSAY_RETURN_IF_ERROR(check_told(program_, values, printed));
  const auto told = count == 0                              ? TimesTold::kNone
                    : !warms_up_itself() && count == wanted ? TimesTold::kAll
                                                            : TimesTold::kSteady;
  return Times{.told = told,
               .ns = std::move(values.times_ns),
               .clock_resolution_ns = values.clock_resolution_ns,
               .metrics = std::move(values.metrics)};
}

Result<ProfileReport> CommandSession::profile_inferences(int count) {
  if (program_.operators.pattern.is_absent() && program_.observer.empty()) {
    return fail(ErrorCode::kUnsupported,
                "the program has no \"operator_pattern\" and no \"observer\": its operators are "
                "not known");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto values, run_for_values(count, 0));
  if (values.operators.empty()) {
    return fail(ErrorCode::kEngine,
                fmt::format("the command printed no operator that {} finds",
                            program_.operators.pattern.is_absent()
                                ? "\"observer\""
                                : fmt::format("'{}'", program_.operators.pattern.text())));
  }
  return profile_from_printed(values, count);
}

Result<Tensor> CommandSession::read_output(std::size_t index) const {
  const auto& file = values_.outputs[index];
  const auto& spec = program_.outputs[index];
  if (program_.format == FileFormat::kNpy) {
    return read_npy(file);
  }
  ASSAY_RETURN_IF_ERROR(check_size(spec));
  auto tensor = Tensor::zeros(spec.dtype, spec.shape);
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  if (!error && size != tensor.data.size()) {
    return fail(ErrorCode::kEngine,
                fmt::format("the command left {} bytes for output '{}', which takes {}", size,
                            spec.name, tensor.data.size()));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string bytes, read_file(file, tensor.data.size()));
  if (bytes.size() != tensor.data.size()) {
    return fail(ErrorCode::kEngine,
                fmt::format("output '{}' changed while it was read", spec.name));
  }
  const auto raw = std::as_bytes(std::span(bytes));
  tensor.data.assign(raw.begin(), raw.end());
  return tensor;
}

Result<std::span<const TensorView>> CommandSession::fetch() {
  outputs_.clear();
  views_.clear();
  for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(outputs_.emplace_back(), read_output(i));
  }
  for (const auto& output : outputs_) {
    views_.push_back(output.view());
  }
  return views_;
}

Status CommandSession::reset_state() {
  return {};  // Each process begins anew.
}

void* CommandSession::find_extension(std::string_view tag) {
  if (tag == SelfProfiler::kTag) {
    return static_cast<SelfProfiler*>(this);
  }
  return tag == SelfTimer::kTag ? static_cast<SelfTimer*>(this) : nullptr;
}

}  // namespace assay::command
