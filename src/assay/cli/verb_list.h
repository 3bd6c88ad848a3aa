#pragma once

#include <string>
#include <vector>

namespace assay::cli {

/// What `assay list` lists, by the names that it takes.
std::vector<std::string> names_of_lists();

}  // namespace assay::cli
