#include "assay/base/shell.h"

#include <string>
#include <vector>

namespace assay {

std::string shell_word(const std::string& text) {
  constexpr auto* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:=,@+%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) {
    return text;
  }
  std::string out = "'";
  for (const char c : text) {
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out + "'";
}

std::string shell_command(const std::vector<std::string>& words) {
  std::string command;
  for (const auto& word : words) {
    command += (command.empty() ? "" : " ") + shell_word(word);
  }
  return command;
}

}  // namespace assay
