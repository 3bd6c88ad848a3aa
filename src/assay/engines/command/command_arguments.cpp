#include "assay/engines/command/command_arguments.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <span>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/engines/command/build_folder.h"
#include "assay/engines/command/command_engine.h"

namespace assay::command {
namespace {

/// A name or a version as references to engines have them: "toy", "0123456789ab".
Result<std::string> word_from_argument(std::string_view flag, std::string_view text) {
  const bool is_word = !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-.+").contains(c);
  });
  return is_word ? Result<std::string>(text)
                 : fail(ErrorCode::kInvalidArgument,
                        fmt::format("{} '{}': letters, digits, _ - . and + make one, at most 64",
                                    flag, text));
}

Status take_argument(std::string_view flag, std::string_view value, CommandIdentity& identity) {
  if (flag == "--build") {
    ASSAY_ASSIGN_OR_RETURN(identity.build, read_build_folder(value));
    return {};
  }
  auto& target = flag == "--name" ? identity.name : identity.version;
  ASSAY_ASSIGN_OR_RETURN(target, word_from_argument(flag, value));
  return {};
}

}  // namespace

Result<CommandArguments> arguments_from(std::span<char*> argv) {
  CommandArguments result;
  for (std::size_t i = 0; i < argv.size(); ++i) {
    const std::string_view flag = argv[i];
    if (flag != "--name" && flag != "--version" && flag != "--build") {
      result.rest.push_back(argv[i]);
      continue;
    }
    if (i + 1 == argv.size()) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("{} needs a value", flag));
    }
    ASSAY_RETURN_IF_ERROR(take_argument(flag, argv[++i], result.identity));
  }
  return result;
}

}  // namespace assay::command
