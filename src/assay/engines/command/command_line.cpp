#include "assay/engines/command/command_line.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <fmt/format.h>
#include <iterator>
#include <ranges>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/engines/command/build_folder.h"
#include "assay/engines/command/command_program.h"

namespace assay::command {
namespace {

constexpr std::string_view kBuildOutput = "build:";

/// "{input:0}" and the like, with the place that they are numbers of.
Result<std::string> numbered(std::string_view name, const std::vector<std::string>& files) {
  std::size_t index = 0;
  const auto colon = name.find(':');
  const char* const end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data() + colon + 1, end, index);
  if (error != std::errc() || at != end || index >= files.size()) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("there is nothing for {{{}}}: the program declares {}", name, files.size()));
  }
  return files[index];
}

Result<std::string> value_of_build(std::string_view name, const BuildFolder* build) {
  if (build == nullptr) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("the command takes {{{}}}, and this engine is no build of a commit: "
                            "make one with assay engine build REPO COMMIT",
                            name));
  }
  if (!name.starts_with(kBuildOutput)) {
    return build->folder.string();
  }
  const auto output = std::string(name.substr(kBuildOutput.size()));
  const auto found = build->outputs.find(output);
  if (found != build->outputs.end()) {
    return found->second.string();
  }
  std::vector<std::string> known;
  std::ranges::copy(build->outputs | std::views::keys, std::back_inserter(known));
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("the build has no output '{}'{}", output, suggestion_for(output, known)));
}

Result<std::string> value_of_threads(const Values& values) {
  if (values.threads > 0) {
    return std::to_string(values.threads);
  }
  return fail(ErrorCode::kInvalidArgument,
              "the command takes {threads}: say how many by the option threads");
}

Result<std::string> value_of_place(std::string_view name, const Values& values) {
  const auto place = std::string(name.substr(name.find(':') + 1));
  const auto found = values.places.find(place);
  return found != values.places.end()
             ? Result<std::string>(found->second)
             : fail(ErrorCode::kInvalidArgument,
                    fmt::format("nothing says where {{{}}} lies: the file .places.json beside the "
                                "program has its path",
                                name));
}

/// One folder below the launch's own.
Result<std::string> value_of_scratch(std::string_view name, const Values& values) {
  const auto folder = name.substr(name.find(':') + 1);
  const bool is_name = !folder.empty() && folder.find_first_of("/.") == std::string_view::npos;
  return is_name ? Result<std::string>((values.scratch / folder).string())
                 : fail(ErrorCode::kInvalidArgument,
                        fmt::format("{{{}}}: a name without / and . makes a folder", name));
}

Result<std::string> value_of(std::string_view name, const CommandProgram& program,
                             const Values& values) {
  if (name == "iterations" || name == "warmup") {
    return std::to_string(name == "warmup" ? values.warmup : values.iterations);
  }
  if (name == "folder") {
    return program.folder.string();
  }
  if (name == "threads") {
    return value_of_threads(values);
  }
  if (name == "build" || name.starts_with(kBuildOutput)) {
    return value_of_build(name, values.build);
  }
  if (name.starts_with("place:")) {
    return value_of_place(name, values);
  }
  if (name.starts_with("scratch:")) {
    return value_of_scratch(name, values);
  }
  if (name.starts_with("input:")) {
    return numbered(name, values.inputs);
  }
  if (name.starts_with("output:")) {
    return numbered(name, values.outputs);
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("unknown placeholder {{{}}}; known are iterations, warmup, threads, "
                          "folder, input:N, output:N, inputs, outputs, build, build:NAME, "
                          "place:NAME, scratch:NAME",
                          name));
}

Result<std::string> expanded(const std::string& text, const CommandProgram& program,
                             const Values& values) {
  std::string result;
  std::size_t at = 0;
  for (auto open = text.find('{'); open != std::string::npos; open = text.find('{', at)) {
    result += text.substr(at, open - at);
    if (text.substr(open, 2) == "{{") {
      result += '{';
      at = open + 2;
      continue;
    }
    const auto close = text.find('}', open);
    if (close == std::string::npos) {
      at = open;
      break;
    }
    const std::string_view name(text.data() + open + 1, close - open - 1);
    ASSAY_ASSIGN_OR_RETURN(const auto value, value_of(name, program, values));
    result += value;
    at = close + 1;
  }
  return result + text.substr(at);
}

Result<std::vector<std::string>> command_line(const std::vector<std::string>& step,
                                              const CommandProgram& program, const Values& values) {
  std::vector<std::string> argv;
  for (const auto& argument : step) {
    if (argument == "{inputs}" || argument == "{outputs}") {
      const auto& files = argument == "{inputs}" ? values.inputs : values.outputs;
      argv.insert(argv.end(), files.begin(), files.end());
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(argv.emplace_back(), expanded(argument, program, values));
  }
  if (argv.empty()) {
    return fail(ErrorCode::kInvalidArgument, "no argument is left of a command");
  }
  if (argv.front().find('/') != std::string::npos) {
    argv.front() = (program.folder / argv.front()).string();
  }
  return argv;
}

}  // namespace

Result<std::vector<std::vector<std::string>>> command_lines_from(const CommandProgram& program,
                                                                 const Values& values) {
  std::vector<std::vector<std::string>> lines;
  for (const auto& step : program.steps) {
    ASSAY_ASSIGN_OR_RETURN(lines.emplace_back(), command_line(step, program, values));
  }
  return lines;
}

Result<std::string> text_from_template(const std::string& text, const CommandProgram& program,
                                       const Values& values) {
  return expanded(text, program, values);
}

}  // namespace assay::command
