#pragma once

#include <string>
#include <vector>

namespace assay::cli {

/// Names of the lists that `assay list` prints.
std::vector<std::string> names_of_lists();

}  // namespace assay::cli
