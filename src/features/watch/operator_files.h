#pragma once

#include "features/repository/path_filter.h"

#include <string>
#include <vector>

#include "assay/base/json.h"

namespace assay::watch {

/// Names of the operators that account for a fifth at least of all that operators changed in the
/// direction of `change`. `operators`: rows with "name" and "change_ns". What is not in operators
/// does not matter: its noise may be larger than the change.
std::vector<std::string> operators_that_changed(const Json& operators, double change);

/// True if one of the files belongs to one of the operators: by the patterns that the repository
/// file has for the operator ("paths": {"operators": {"conv_*": ["src/conv"]}}), or else because a
/// part of its path contains the operator's name. Case and all but letters and digits do not
/// matter; of "aten::conv2d" the last word counts, and a name below three letters names no file.
bool names_operator(const std::vector<std::string>& files,
                    const std::vector<std::string>& operators, const PathFilter& paths);

}  // namespace assay::watch
