#include "assay/cli/run_reference.h"

#include <cctype>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace assay::cli {
namespace {

/// "019ab3f2-4c1d", or more of a UUID.
bool begins_a_uuid(std::string_view text) {
  constexpr std::size_t kFewestDigits = 8;
  constexpr std::string_view kForm = "00000000-0000-0000-0000-000000000000";
  if (text.size() < kFewestDigits || text.size() > kForm.size()) {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_right =
        kForm[i] == '-' ? text[i] == '-' : std::isxdigit(static_cast<unsigned char>(text[i])) != 0;
    if (!is_right) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<std::string> find_run_reference(std::string_view argument) {
  constexpr std::string_view kPrefix = "run:";
  if (argument.starts_with(kPrefix)) {
    return std::string(argument.substr(kPrefix.size()));
  }
  const bool is_reference = argument == "latest" || argument.starts_with("latest:") ||
                            argument.starts_with("label:") || begins_a_uuid(argument);
  std::error_code error;
  if (!is_reference || std::filesystem::exists(argument, error)) {
    return std::nullopt;
  }
  return std::string(argument);
}

}  // namespace assay::cli
