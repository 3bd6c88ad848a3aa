#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "assay/artifact/aot_client.h"
#include "assay/artifact/artifact_builder.h"
#include "assay/artifact/job_box.h"
#include "assay/artifact/toolchain.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/campaign/toolchain_job.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/sandbox_flag.h"
#include "assay/cli/verb.h"
#include "assay/record/axes.h"
#include "assay/record/sandbox.h"
#include "assay/record/subject.h"
#include "assay/spec/program_format.h"

namespace assay::cli {
namespace {

struct InspectOptions {
  std::string file;
  bool is_json = false;
  bool has_graph = false;
  ToolchainFlags toolchain;
  SandboxFlag sandbox;
};

/// A program without its manifest has no names, and one with two backends does not say whose named
/// data it holds: these are null.
std::string text_of(const Json& json, const char* key, const char* absent = "") {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : absent;
}

std::string bytes_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? text_from_bytes(found->get<double>())
                                                   : "unknown";
}

/// "[batch, 3]": an open size by its name, "?" where it has none.
std::string text_of_sizes(const Json& tensor) {
  const Json shape = tensor.value("shape", Json());
  if (!shape.is_array()) {
    return "[]";
  }
  const Json names = tensor.value("dimensions", Json::array());
  std::vector<std::string> sizes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool is_open = shape[i].is_number_integer() && shape[i].get<std::int64_t>() < 0;
    const auto name = i < names.size() && names[i].is_string() ? names[i].get<std::string>() : "";
    sizes.push_back(!is_open ? shape[i].dump() : name.empty() ? "?" : name);
  }
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

void print_tensors(const Json& method, const char* which) {
  const Json tensors = method.value(which, Json::array());
  for (const auto& tensor : tensors) {
    const Json quantization = tensor.value("quantization", Json());
    print_out("  {:<8} {:<20} {} {}{}\n", which == std::string_view("inputs") ? "input" : "output",
              text_of(tensor, "name", "-"), text_of(tensor, "dtype"), text_of_sizes(tensor),
              quantization.is_null() ? "" : "  " + quantization.dump());
  }
}

void print_operators(const Json& holder, const char* key) {
  const Json operators = holder.value(key, Json::array());
  for (const auto& op : operators) {
    print_out("  operator {} x {}\n", op.value("count", 0), text_of(op, "name"));
  }
}

void print_method(const Json& method) {
  print_out("method {}\n", text_of(method, "name"));
  print_tensors(method, "inputs");
  print_tensors(method, "outputs");
  const Json arenas = method.value("planned_arena_bytes", Json::array());
  for (const auto& bytes : arenas) {
    print_out("  arena    {}\n", text_from_bytes(bytes.get<double>()));
  }
  const Json delegates = method.value("delegates", Json::array());
  for (const auto& delegate : delegates) {
    print_out("  delegate {} x {}, {} + {} of named data\n", delegate.value("count", 0),
              text_of(delegate, "backend"), bytes_of(delegate, "processed_bytes"),
              bytes_of(delegate, "named_data_bytes"));
  }
  print_operators(method, "operators_left");
}

/// Every file of a finished program, itself first, with its digest.
Status add_files(const std::string& file, Json& program) {
  if (!find_program_format(file)) {
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto artifact, artifact_from_file(file));
  program["files"] = artifact.files;
  return {};
}

void print_files(const Json& files) {
  for (std::size_t i = 1; i < files.size(); ++i) {
    print_out("  data     {}, {}, sha256 {}\n", text_of(files[i], "name"),
              bytes_of(files[i], "bytes"), text_of(files[i], "sha256").substr(0, 12));
  }
}

void print_program(const Json& program, bool has_graph) {
  print_out("{}\n", bytes_of(program, "bytes"));
  print_files(program.value("files", Json::array()));
  const Json methods = program.value("methods", Json::array());
  for (const auto& method : methods) {
    print_method(method);
  }
  print_operators(program, "operators");
  if (has_graph) {
    print_out("{}\n", text_of(program, program.contains("graph") ? "graph" : "text"));
  }
}

/// Asks the toolchain, in a sandbox unless that is switched off.
Result<AotReply> inspect_file(const InspectOptions& options, const Toolchain& toolchain) {
  ASSAY_ASSIGN_OR_RETURN(const auto sandbox, options.sandbox.get());
  ASSAY_ASSIGN_OR_RETURN(const auto folder, TemporaryFolder::make("assay-inspect"));
  const Json job{{"job", "inspect"},
                 {"file", std::filesystem::absolute(options.file).string()},
                 {"out_dir", folder.path().string()}};
  const auto box = box_of_job(job, toolchain, sandbox);
  if (box.mode != SandboxMode::kOff) {
    tell_gaps_of_toolchain_box();
  }
  ASSAY_ASSIGN_OR_RETURN(auto client, AotClient::start(toolchain, box, 1, "/dev/null"));
  return client.run_one(job);
}

Result<ExitCode> execute_inspect(const InspectOptions& options) {
  if (!std::filesystem::exists(options.file)) {
    return fail(ErrorCode::kNotFound, fmt::format("no file '{}'", options.file));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto toolchain,
                         query_toolchain(default_python(options.toolchain.python)));
  ASSAY_ASSIGN_OR_RETURN(const auto reply, inspect_file(options, toolchain));
  if (reply.conclusion.outcome != Outcome::kCompleted) {
    return fail(ErrorCode::kCorrupt, fmt::format("'{}': {}", options.file, reply.conclusion.text));
  }
  Json program = reply.result;
  ASSAY_RETURN_IF_ERROR(add_files(options.file, program));
  if (options.is_json) {
    print_json(program, 2);
  } else {
    print_program(program, options.has_graph);
  }
  return ExitCode::kOk;
}

}  // namespace

Execute declare_inspect(CLI::App& app) {
  auto options = std::make_shared<InspectOptions>();
  app.add_option("file", options->file,
                 "Program file: .pte, .onnx, .xml, .tflite, .pt2 or .aoti.pt2")
      ->required();
  app.add_flag("--json", options->is_json, "Print all contents as JSON");
  app.add_flag("--graph", options->has_graph, "Print the instructions or the graph, too");
  options->toolchain.declare(app);
  options->sandbox.declare(app, "the toolchain job", "on");
  return [options] { return execute_inspect(*options); };
}

}  // namespace assay::cli
