#pragma once

#include "features/site/site.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string_view>

#include "assay/base/result.h"

namespace assay::site {

struct WrittenSite {
  std::size_t runs = 0;
  std::size_t files = 0;
  std::size_t bytes = 0;
  std::size_t unreadable = 0;  ///< Pages of runs that could not be made; they say why.
  bool is_stopped = false;     ///< Nothing was replaced.
};

/// How far a site has come: runs that are read, then pages that are written.
struct SiteProgress {
  std::string_view unit;  ///< "run", "page"
  std::size_t done = 0;
  std::size_t total = 0;  ///< Number of pages known so far: pages name further ones.
};

/// Brings the index of a site that was opened as static up to date, and writes every page and what
/// they share to a folder. The pages work from any web server and as files. The folder is made, or
/// must be empty or hold an earlier site, which is replaced once all pages are written: whatever
/// goes wrong before, and whoever stops it, the folder keeps the earlier site.
/// `goes_on`: asked before each run that is read and each page; false stops it. Errors:
/// kInvalidArgument (a folder with other files), kNotFound (no run), kUnavailable, kExhausted,
/// those of Site::update.
Result<WrittenSite> write_site(Site& site, const std::filesystem::path& folder,
                               const std::function<bool(const SiteProgress&)>& goes_on);

}  // namespace assay::site
