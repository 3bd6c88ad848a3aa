#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::fai_pep {

/// The value of a placeholder, "files.graph"; absent: there is none here, look elsewhere.
using Lookup = std::function<Result<std::optional<std::string>>(std::string_view name)>;

/// Replaces {name} and {group.name}, of word characters and dots, until none is left. Other braces
/// stay, as programs of awk have them. `path` opens the messages.
/// Errors: kInvalidArgument for a name without a value, for names that lead to each other, and for
/// more than 1 MB of text.
Result<std::string> substituted(std::string_view text, const Lookup& lookup,
                                const std::string& path);

/// A scalar of a document by its dotted path, as text; absent if there is none.
std::optional<std::string> scalar_at(const Json& root, std::string_view path);

/// Words of a command line by the rules of a POSIX shell, without any expansion. Errors:
/// kInvalidArgument for a quote that is not closed.
Result<std::vector<std::string>> words_from_command(std::string_view command);

}  // namespace assay::fai_pep
