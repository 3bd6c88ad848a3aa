#include "features/site/write_site.h"

#include "features/site/index_update.h"
#include "features/site/markup.h"
#include "features/site/page.h"
#include "features/site/routes.h"
#include "features/site/site.h"

#include <deque>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "assay/base/fs.h"
#include "assay/base/result.h"

namespace assay::site {
namespace {

namespace stdfs = std::filesystem;

using GoesOn = std::function<bool(const SiteProgress&)>;

/// A file by which a later call knows a folder that it may replace.
constexpr const char* kMark = ".assay-site";
/// Folder of the new site's pages until all of them are written.
constexpr const char* kScratch = ".assay-site-new";

Status check_folder(const stdfs::path& folder) {
  std::error_code error;
  if (!stdfs::exists(folder, error) || stdfs::exists(folder / kMark, error)) {
    return {};
  }
  if (!stdfs::is_directory(folder, error) || !stdfs::is_empty(folder, error)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' holds other files; name a new or empty folder, or one of an "
                            "earlier site",
                            folder.string()));
  }
  return {};
}

void remove_earlier(const stdfs::path& folder) {
  std::error_code error;
  for (const auto* part : {"runs", "cases", "models", "history", "assets"}) {
    stdfs::remove_all(folder / part, error);
  }
  for (const auto& entry : stdfs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".html") {
      stdfs::remove(entry.path(), error);
    }
  }
}

/// The path that a link of a page leads to, without what is behind it; empty for one that leads
/// away from the site or within the page.
std::string target_of_link(const std::string& page, std::string_view href) {
  href = href.substr(0, href.find_first_of("?#"));
  if (href.empty() || href.find(':') != std::string_view::npos) {
    return {};
  }
  const auto path = (stdfs::path(page).parent_path() / stdfs::path(href)).lexically_normal();
  const auto text = path.generic_string();
  return text.starts_with("..") || text.starts_with('/') ? std::string() : text;
}

/// The values of href and src in the elements of a page. In data and scripts, '<' is no element.
template <class Visit>
void visit_links(std::string_view html, const Visit& visit) {
  for (const std::string_view mark : {" href=\"", " src=\""}) {
    for (auto at = html.find(mark); at != std::string_view::npos; at = html.find(mark, at)) {
      at += mark.size();
      const auto end = html.find('"', at);
      if (end == std::string_view::npos) {
        return;
      }
      visit(html.substr(at, end - at));
    }
  }
}

/// Pages that are still to be written, each once.
class Frontier {
 public:
  void add(const std::string& path) {
    if (!path.empty() && known_.insert(path).second) {
      open_.push_back(path);
    }
  }
  [[nodiscard]] bool is_empty() const { return open_.empty(); }
  [[nodiscard]] SiteProgress progress() const {
    return {.unit = "page", .done = known_.size() - open_.size(), .total = known_.size()};
  }
  std::string take() {
    auto path = std::move(open_.front());
    open_.pop_front();
    return path;
  }

 private:
  std::set<std::string> known_;
  std::deque<std::string> open_;
};

/// A folder in that of the site, so that its files are moved and not copied. One that a killed
/// process left is removed first.
class Scratch {
 public:
  explicit Scratch(stdfs::path path) : path_(std::move(path)) { remove(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { remove(); }
  [[nodiscard]] const stdfs::path& path() const { return path_; }

 private:
  void remove() {
    std::error_code ignored;
    stdfs::remove_all(path_, ignored);
  }
  stdfs::path path_;
};

/// Writes all pages to a folder, or those until it is stopped.
Status write_pages(Site& site, const stdfs::path& folder, const GoesOn& goes_on,
                   WrittenSite& written) {
  Frontier frontier;
  for (const auto* path : {"index.html", "models.html", "conformance.html", "comparisons.html",
                           "incidents.html", "devices.html", "search.html"}) {
    frontier.add(path);
  }
  while (!frontier.is_empty()) {
    if (!goes_on(frontier.progress())) {
      written.is_stopped = true;
      return {};
    }
    const auto path = frontier.take();
    const PageRequest request{.path = percent_decoded(path)};
    // A name that could lead out of the folder is no page of a site.
    if (!find_route(request.path)) {
      continue;
    }
    auto page = site.render(request);
    if (!page) {
      ++written.unreadable;
      page = site.error_page(request, "This page could not be made", page.error().message);
    }
    if (path.ends_with(".html")) {
      visit_links(page->body,
                  [&](std::string_view href) { frontier.add(target_of_link(path, href)); });
    }
    ASSAY_RETURN_IF_ERROR(write_file_atomically(folder / request.path, page->body));
    ++written.files;
    written.bytes += page->body.size();
  }
  return {};
}

/// Puts the new site in the place of the earlier one.
Status replace_site(const stdfs::path& scratch, const stdfs::path& folder) {
  remove_earlier(folder);
  std::error_code error;
  for (const auto& entry : stdfs::directory_iterator(scratch, error)) {
    const auto target = folder / entry.path().filename();
    stdfs::remove_all(target, error);
    stdfs::rename(entry.path(), target, error);
    if (error) {
      break;
    }
  }
  return error ? fail(ErrorCode::kUnavailable,
                      fmt::format("cannot put the new site into '{}': {}; write it again",
                                  folder.string(), error.message()))
               : Status();
}

}  // namespace

Result<WrittenSite> write_site(Site& site, const stdfs::path& folder, const GoesOn& goes_on) {
  ASSAY_RETURN_IF_ERROR(check_folder(folder));
  const auto progress_of = [](const IndexState& state) {
    return SiteProgress{.unit = "run", .done = state.runs - state.pending, .total = state.runs};
  };
  ASSAY_ASSIGN_OR_RETURN(const auto state, site.update([&](const IndexState& reached) {
    return goes_on(progress_of(reached));
  }));
  WrittenSite written{.runs = state.runs, .is_stopped = !goes_on(progress_of(state))};
  if (written.is_stopped) {
    return written;
  }
  if (state.pending > 0) {
    return fail(ErrorCode::kUnavailable, fmt::format("{} of {} runs could not be read: {}",
                                                     state.pending, state.runs, state.trouble));
  }
  if (state.runs == 0) {
    return fail(ErrorCode::kNotFound, "no run of the store is chosen; see assay runs");
  }
  ASSAY_RETURN_IF_ERROR(write_file_atomically(folder / kMark, "assay/site/1\n"));
  const Scratch scratch(folder / kScratch);
  ASSAY_RETURN_IF_ERROR(write_pages(site, scratch.path(), goes_on, written));
  if (!written.is_stopped) {
    ASSAY_RETURN_IF_ERROR(replace_site(scratch.path(), folder));
  }
  return written;
}

}  // namespace assay::site
