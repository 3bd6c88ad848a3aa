#pragma once

#include "features/site/index_update.h"
#include "features/site/page.h"
#include "features/site/run_index.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "assay/base/result.h"
#include "assay/store/result_store.h"

namespace assay::site {

struct SiteOptions {
  OpenStore open_store;
  std::string store_name;            ///< Name shown to people: "results.db".
  std::filesystem::path index_file;  ///< The index; made if it is absent.
  RunFilter filter = {.limit = -1};  ///< Runs that the site shows.
  std::string data_folder;           ///< Folder of vega.js; empty: it is searched.
  bool is_static = false;
};

/// All pages of a store. Every page is made when it is asked for, from the index and, for one run
/// or one repository, from the store. Thread-safe.
class Site {
 public:
  /// Errors: those of RunIndex::open.
  static Result<std::unique_ptr<Site>> open(SiteOptions options);

  /// Brings the index up to date: update_index().
  Result<IndexState> update(const std::function<bool(const IndexState&)>& goes_on,
                            UpdateScope scope = UpdateScope::kAll);

  /// Makes a page or document. Errors: kNotFound for a path that the site does not have or names
  /// nothing in the store, kInvalidArgument for a parameter, those of the store.
  Result<Page> render(const PageRequest& request);

  /// A page that says that there is none of this address, or what else went wrong.
  Page error_page(const PageRequest& request, const std::string& title, const std::string& message);

 private:
  Site(SiteOptions options, RunIndex index)
      : options_(std::move(options)), index_(std::move(index)) {}
  [[nodiscard]] PageTools tools();
  void note_state(const IndexState& state, UpdateScope scope);

  SiteOptions options_;
  RunIndex index_;
  std::mutex mutex_;
  IndexState state_;
  std::size_t left_ = 0;  ///< Runs that the last update of all has not read.
};

/// The place of the index of a store: a file below `home` for each store. `store`: its path or
/// address.
std::filesystem::path index_file_of_store(const std::filesystem::path& home,
                                          const std::string& store);

}  // namespace assay::site
