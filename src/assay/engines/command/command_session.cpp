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
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/engine/input_check.h"
#include "assay/engine/session.h"
#include "assay/engines/command/command_program.h"
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

}  // namespace

CommandSession::CommandSession(CommandProgram program, LoadReport report, int threads,
                               TemporaryFolder folder)
    : program_(std::move(program)), report_(std::move(report)), folder_(std::move(folder)) {
  values_.threads = threads;
  values_.inputs = file_names(folder_.path(), "input", program_.inputs.size(), program_.format);
  values_.outputs = file_names(folder_.path(), "output", program_.outputs.size(), program_.format);
}

Result<std::unique_ptr<CommandSession>> CommandSession::open(CommandProgram program,
                                                             LoadReport report, int threads) {
  ASSAY_ASSIGN_OR_RETURN(auto folder, TemporaryFolder::make("assay-command"));
  std::unique_ptr<CommandSession> session(
      new CommandSession(std::move(program), std::move(report), threads, std::move(folder)));
  ASSAY_RETURN_IF_ERROR(argv_from(session->program_, session->values_));
  return session;
}

Status CommandSession::bind(std::span<const TensorView> inputs) {
  ASSAY_RETURN_IF_ERROR(check_inputs(inputs, program_.inputs));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(write_input(inputs[i], program_.format, values_.inputs[i]));
  }
  return {};
}

Result<std::string> CommandSession::run(int iterations) {
  values_.iterations = iterations;
  ASSAY_ASSIGN_OR_RETURN(const auto argv, argv_from(program_, values_));
  const auto words = folder_.path() / "stderr";
  std::filesystem::remove(words);
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::nanoseconds(program_.timeout_ns));
  ASSAY_ASSIGN_OR_RETURN(
      auto output, run_command({.argv = argv, .env = {}, .stderr_file = words.string()}, timeout));
  if (output.exit_code != 0) {
    return fail(ErrorCode::kEngine, fmt::format("'{}' ended with exit code {}: {}", argv.front(),
                                                output.exit_code, last_words(words)));
  }
  return std::move(output.output);
}

Status CommandSession::execute() {
  views_.clear();
  ASSAY_RETURN_IF_ERROR(run(1));
  return {};
}

Result<SelfTimer::Times> CommandSession::time_inferences(int count) {
  if (program_.pattern_text.empty()) {
    return fail(ErrorCode::kUnsupported,
                "the program has no \"time_pattern\": its times are not known");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto printed, run(count));
  return times_from(program_, printed, count);
}

Result<Tensor> CommandSession::read_output(std::size_t index) const {
  const auto& file = values_.outputs[index];
  const auto& spec = program_.outputs[index];
  if (program_.format == FileFormat::kNpy) {
    return read_npy(file);
  }
  ASSAY_RETURN_IF_ERROR(check_size(spec));
  ASSAY_ASSIGN_OR_RETURN(const std::string bytes, read_file(file));
  auto tensor = Tensor::zeros(spec.dtype, spec.shape);
  if (bytes.size() != tensor.data.size()) {
    return fail(ErrorCode::kEngine,
                fmt::format("the command left {} bytes for output '{}', which takes {}",
                            bytes.size(), spec.name, tensor.data.size()));
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
  return tag == SelfTimer::kTag ? static_cast<SelfTimer*>(this) : nullptr;
}

}  // namespace assay::command
