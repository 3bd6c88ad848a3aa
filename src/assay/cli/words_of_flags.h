#pragma once

#include <string>
#include <string_view>

namespace assay::cli {

/// The words that a user typed for the part of a spec at `path`: "--require steady_ns" for
/// "require.steady_ns", "--time-budget" for "measure.time_budget", "model" for "models[0].ref".
std::string flag_from_spec_path(std::string_view path);

/// A message about a spec that a verb made of its flags, in the words of these: each line
/// "ORIGIN: PATH: text" has the flag in place of the path. Other lines stay.
std::string in_words_of_flags(const std::string& message, std::string_view origin);

}  // namespace assay::cli
