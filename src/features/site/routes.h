#pragma once

#include "features/site/page.h"

#include <string>
#include <utility>

#include "assay/base/result.h"

namespace assay::site {

/// Finds what makes the page of a path, and the name in it. Errors: kNotFound; a name holds no "/"
/// and no "..".
Result<std::pair<MakePage, std::string>> find_route(const std::string& path);

/// True if the page of a path is made from the store, which may take seconds, and not from the
/// index alone.
bool reads_store(const std::string& path);

}  // namespace assay::site
