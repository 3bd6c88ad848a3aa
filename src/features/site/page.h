#pragma once

#include "features/site/index_update.h"
#include "features/site/markup.h"
#include "features/site/run_index.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay::site {

/// A request to a site: a path without the leading "/", and the parameters behind the "?".
struct PageRequest {
  std::string path;
  std::map<std::string, std::string> query = {};
};

/// A page or a document, ready to be sent or written.
struct Page {
  std::string media_type = "text/html; charset=utf-8";
  std::string body;
};

/// Sources of a page. A page reads the index, and the store only for one run or repository.
struct PageTools {
  RunIndex& index;
  const OpenStore& open_store;
  std::string store_name;   ///< "results.db", for people.
  std::string data_folder;  ///< Folder of vega.js; empty: it is searched.
  bool is_static = false;   ///< Files: a search is made by a script in the page.
  IndexState state = {};
};

/// Makes a page or document. `name`: the part of the path that names one thing, "019ab3f2-…".
/// Errors: kNotFound, those of the store and the index.
using MakePage = Result<Page> (*)(const PageTools& tools, const PageRequest& request,
                                  const std::string& name);

/// The runs of a list that one page shows.
inline constexpr int kRowsPerPage = 100;

}  // namespace assay::site
