#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>

#include "assay/base/result.h"
#include "assay/site/site.h"

namespace assay::site {

struct WrittenSite {
  std::size_t files = 0;
  std::size_t bytes = 0;
  std::size_t unreadable = 0;  ///< Pages of runs that could not be made; they say why.
};

/// Writes every page of a site that was opened as static, and what they share, to a folder. The
/// pages work from any web server and as files. The folder is made, or must be empty or hold an
/// earlier site, whose pages are replaced; those of runs that are gone are removed.
/// `on_page`: called for each page. Errors: kInvalidArgument (a folder with other files),
/// kUnavailable, kExhausted.
Result<WrittenSite> write_site(Site& site, const std::filesystem::path& folder,
                               const std::function<void(std::size_t)>& on_page);

}  // namespace assay::site
