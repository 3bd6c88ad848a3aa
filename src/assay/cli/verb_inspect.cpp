#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "assay/artifact/aot_client.h"
#include "assay/artifact/toolchain.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/verb.h"
#include "assay/record/axes.h"

namespace assay::cli {
namespace {

struct Options {
  std::string file;
  bool is_json = false;
  bool has_graph = false;
  ToolchainFlags toolchain;
};

void print_tensors(const Json& method, const char* which) {
  const Json tensors = method.value(which, Json::array());
  for (const auto& tensor : tensors) {
    const Json quantization = tensor.value("quantization", Json());
    fmt::print("  {:<8} {:<20} {} {}{}\n", which == std::string_view("inputs") ? "input" : "output",
               tensor.value("name", ""), tensor.value("dtype", ""),
               tensor.value("shape", Json::array()).dump(),
               quantization.is_null() ? "" : "  " + quantization.dump());
  }
}

void print_method(const Json& method) {
  fmt::print("method {}\n", method.value("name", ""));
  print_tensors(method, "inputs");
  print_tensors(method, "outputs");
  const Json arenas = method.value("planned_arena_bytes", Json::array());
  for (const auto& bytes : arenas) {
    fmt::print("  arena    {}\n", text_from_bytes(bytes.get<double>()));
  }
  const Json delegates = method.value("delegates", Json::array());
  for (const auto& delegate : delegates) {
    fmt::print("  delegate {} x {}, {} + {} of named data\n", delegate.value("count", 0),
               delegate.value("backend", ""),
               text_from_bytes(delegate.value("processed_bytes", 0.0)),
               text_from_bytes(delegate.value("named_data_bytes", 0.0)));
  }
  const Json left = method.value("operators_left", Json::array());
  for (const auto& op : left) {
    fmt::print("  operator {} x {}\n", op.value("count", 0), op.value("name", ""));
  }
}

void print_program(const Json& program, bool has_graph) {
  fmt::print("{}\n", text_from_bytes(program.value("bytes", 0.0)));
  const Json methods = program.value("methods", Json::array());
  for (const auto& method : methods) {
    print_method(method);
  }
  if (has_graph) {
    fmt::print("{}\n", program.value("graph", program.value("text", "")));
  }
}

Result<ExitCode> execute(const Options& options) {
  if (!std::filesystem::exists(options.file)) {
    return fail(ErrorCode::kNotFound, fmt::format("no file '{}'", options.file));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto toolchain,
                         query_toolchain(default_python(options.toolchain.python)));
  ASSAY_ASSIGN_OR_RETURN(auto client, AotClient::start(toolchain, 1, "/dev/null"));
  ASSAY_ASSIGN_OR_RETURN(const auto folder, TemporaryFolder::make("assay-inspect"));
  ASSAY_ASSIGN_OR_RETURN(const auto reply,
                         client.run_one({{"job", "inspect"},
                                         {"file", std::filesystem::absolute(options.file).string()},
                                         {"out_dir", folder.path().string()}}));
  if (reply.outcome != Outcome::kCompleted) {
    return fail(ErrorCode::kCorrupt, fmt::format("'{}': {}", options.file, reply.text));
  }
  if (options.is_json) {
    std::cout << reply.result.dump(2) << "\n";
  } else {
    print_program(reply.result, options.has_graph);
  }
  return ExitCode::kOk;
}

}  // namespace

Execute declare_inspect(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("file", options->file, "program.pte or model.pt2")->required();
  app.add_flag("--json", options->is_json, "Everything, as JSON");
  app.add_flag("--graph", options->has_graph, "Also the instructions, or the exported graph");
  options->toolchain.declare(app);
  return [options] { return execute(*options); };
}

}  // namespace assay::cli
