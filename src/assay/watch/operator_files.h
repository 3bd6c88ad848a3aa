#pragma once

#include <string>
#include <vector>

#include "assay/repository/path_filter.h"

namespace assay::watch {

/// Whether one of the files belongs to one of the operators: by the patterns that the repository
/// file has for the operator ("paths": {"operators": {"conv_*": ["src/conv"]}}), or else because a
/// part of its path contains the operator's name. Case and all but letters and digits do not
/// matter; of "aten::conv2d" the last word counts, and a name below three letters names no file.
bool names_operator(const std::vector<std::string>& files,
                    const std::vector<std::string>& operators, const PathFilter& paths);

}  // namespace assay::watch
