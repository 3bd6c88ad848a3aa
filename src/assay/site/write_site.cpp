#include "assay/site/write_site.h"

#include <cstddef>
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
#include "assay/site/markup.h"
#include "assay/site/page.h"
#include "assay/site/routes.h"
#include "assay/site/site.h"

namespace assay::site {
namespace {

namespace stdfs = std::filesystem;

/// A file by which a later call knows a folder that it may replace.
constexpr const char* kMark = ".assay-site";

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
  std::string take() {
    auto path = std::move(open_.front());
    open_.pop_front();
    return path;
  }

 private:
  std::set<std::string> known_;
  std::deque<std::string> open_;
};

}  // namespace

Result<WrittenSite> write_site(Site& site, const stdfs::path& folder,
                               const std::function<void(std::size_t)>& on_page) {
  ASSAY_RETURN_IF_ERROR(check_folder(folder));
  remove_earlier(folder);
  ASSAY_RETURN_IF_ERROR(write_file_atomically(folder / kMark, "assay/site/1\n"));
  WrittenSite written;
  Frontier frontier;
  for (const auto* path : {"index.html", "models.html", "conformance.html", "comparisons.html",
                           "incidents.html", "devices.html", "search.html"}) {
    frontier.add(path);
  }
  while (!frontier.is_empty()) {
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
    on_page(written.files);
  }
  return written;
}

}  // namespace assay::site
