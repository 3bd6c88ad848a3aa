#include "features/site/site.h"

#include "features/site/index_update.h"
#include "features/site/markup.h"
#include "features/site/page.h"
#include "features/site/page_parts.h"
#include "features/site/pages.h"
#include "features/site/routes.h"
#include "features/site/run_index.h"
#include "features/site/site_files.h"
#include "site_assets.h"

#include <array>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/result.h"
#include "assay/report/html_page.h"

namespace assay::site {
namespace {

std::string media_type_of(const std::string& name) {
  return name.ends_with(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8";
}

}  // namespace

std::vector<report::SharedFile> site_files(const std::string& data_folder) {
  auto files = report::shared_page_files({.data_folder = data_folder});
  files.push_back({"site.css", std::string(site_assets("site.css"))});
  constexpr auto kSiteScripts =
      std::to_array<std::string_view>({"format.js", "dom.js", "charts.js"});
  files.push_back({"site.js", report::joined_scripts(kSiteScripts, site_assets("site.js"))});
  return files;
}

Result<Page> make_asset(const PageTools& tools, const PageRequest& /*request*/,
                        const std::string& name) {
  for (auto& file : site_files(tools.data_folder)) {
    if (file.name == name) {
      return Page{.media_type = media_type_of(name), .body = std::move(file.content)};
    }
  }
  return fail(ErrorCode::kNotFound, fmt::format("no file '{}'", name));
}

Result<std::unique_ptr<Site>> Site::open(SiteOptions options) {
  ASSAY_ASSIGN_OR_RETURN(auto index, RunIndex::open(options.index_file));
  return std::unique_ptr<Site>(new Site(std::move(options), std::move(index)));
}

PageTools Site::tools() {
  const std::scoped_lock lock(mutex_);
  return {.index = index_,
          .open_store = options_.open_store,
          .store_name = options_.store_name,
          .data_folder = options_.data_folder,
          .is_static = options_.is_static,
          .state = state_};
}

void Site::note_state(const IndexState& state, UpdateScope scope) {
  const std::scoped_lock lock(mutex_);
  state_ = state;
  if (scope == UpdateScope::kAll) {
    left_ = state.pending;
    return;
  }
  // A look at the newest knows nothing of the others.
  state_.runs += left_;
  state_.pending += left_;
}

Result<IndexState> Site::update(const std::function<bool(const IndexState&)>& goes_on,
                                UpdateScope scope) {
  const auto watch = [&](const IndexState& state) {
    note_state(state, scope);
    return goes_on(state);
  };
  ASSAY_ASSIGN_OR_RETURN(auto state,
                         update_index(index_, options_.open_store, options_.filter, scope, watch));
  note_state(state, scope);
  return state;
}

Result<Page> Site::render(const PageRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(const auto route, find_route(request.path));
  try {
    return route.first(tools(), request, route.second);
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, fmt::format("'{}': {}", request.path, error.what()));
  }
}

Page Site::error_page(const PageRequest& request, const std::string& title,
                      const std::string& message) {
  return make_page(
      tools(), request,
      {.title = title,
       .lede = {text(message)},
       .body = element("section", {}, link(root_from(request.path) + "index.html", "All runs"))});
}

std::filesystem::path index_file_of_store(const std::filesystem::path& home,
                                          const std::string& store) {
  constexpr std::size_t kDigits = 24;
  return home / "site" / (sha256_hex(store).substr(0, kDigits) + ".db");
}

}  // namespace assay::site
