#pragma once

#include <string>
#include <vector>

namespace assay {

/// One word for a POSIX shell: in single quotes, unless it needs none.
std::string shell_word(const std::string& text);

/// Words with a space between them, each quoted where it has to be.
std::string shell_command(const std::vector<std::string>& words);

}  // namespace assay
