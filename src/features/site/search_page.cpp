// Search over runs, cases and models. A static site lists all of them, and a script leaves the
// hits.
#include "features/site/index_rows.h"
#include "features/site/markup.h"
#include "features/site/page.h"
#include "features/site/page_parts.h"
#include "features/site/pages.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/report/format.h"

namespace assay::site {
namespace {

constexpr std::int64_t kMostHits = 100;
constexpr std::size_t kMostNames = 8;
constexpr std::int64_t kAllEntries = 100'000;
/// Most bytes of a list in a file; a browser opens that at once.
constexpr std::size_t kMostBytes = 2'500'000;

Markup entry(std::string_view kind, const Markup& linked, const std::string& details) {
  return element("li", {},
                 {element("span", {{"class", "muted"}}, std::string(kind) + " "), linked,
                  element("span", {{"class", "detail"}}, details)});
}

/// `most`: of each kind of names.
Markup entry_of_run(const std::string& root, const RunRow& run, std::size_t most) {
  std::string labels;
  for (const auto& [key, value] : run.labels) {
    labels += fmt::format(" {}={}", key, value);
  }
  return entry(
      "run", run_link(root, run.id, title_of_run(run)),
      fmt::format("{} {} {} {} {} {}{}", run.id, run.verb.empty() ? run.purpose : run.verb,
                  run.name, joined_names(run.models, most), joined_names(run.recipes, most),
                  joined_names(run.engines, most), labels));
}

Markup note_of_omitted(std::size_t omitted) {
  return omitted == 0 ? Markup()
                      : element("p", {{"class", "note"}},
                                fmt::format("{} older entries are not in this file; assay serve "
                                            "searches all of them.",
                                            omitted));
}

/// True if all words are in the model's name.
bool has_all(const ModelUse& model, const std::vector<std::string>& words) {
  const auto lowered = [](std::string text) {
    for (auto& c : text) {
      c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return text;
  };
  const auto name = lowered(model.ref + " " + model.name);
  for (const auto& word : words) {
    if (!name.contains(lowered(word))) {
      return false;
    }
  }
  return true;
}

/// The line above the hits; without words, what to type.
std::string line_above(bool has_words, const std::string& query, std::size_t count, bool is_cut) {
  if (!has_words) {
    return "Words of a run, a label, a case, a model, a recipe or an engine; all of them must be "
           "there.";
  }
  return (is_cut ? "the newest " : "") + report::counted(count, "hit") + " for “" + query + "”" +
         (is_cut ? "; there are more" : "");
}

}  // namespace

Result<Page> make_search_page(const PageTools& tools, const PageRequest& request,
                              const std::string& /*name*/) {
  const auto root = root_from(request.path);
  const auto query = parameter_of(request, "q");
  const auto words = words_of(query);
  const auto most = tools.is_static ? kAllEntries : kMostHits;
  // The script of a written site finds the words of an entry alone.
  const auto most_names = tools.is_static ? std::numeric_limits<std::size_t>::max() : kMostNames;
  Markup entries;
  std::size_t count = 0;
  std::size_t omitted = 0;
  bool is_cut = false;
  const auto add = [&](const Markup& one) {
    const bool has_room = entries.html().size() + one.html().size() < kMostBytes;
    entries += has_room ? one : Markup();
    ++(has_room ? count : omitted);
  };
  if (tools.is_static || !words.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const auto models, tools.index.models());
    for (const auto& model : models) {
      if (has_all(model, words)) {
        add(entry("model", link(root + model_path(model.ref), model.name), model.ref));
      }
    }
    // One more than is shown tells whether there are more.
    ASSAY_ASSIGN_OR_RETURN(auto cases, tools.index.search_cases(words, most + 1));
    ASSAY_ASSIGN_OR_RETURN(auto runs, tools.index.search_runs(words, 0, most + 1));
    is_cut = std::ssize(cases) > most || std::ssize(runs) > most;
    cases.resize(std::min(cases.size(), static_cast<std::size_t>(most)));
    runs.resize(std::min(runs.size(), static_cast<std::size_t>(most)));
    for (std::size_t i = 0; i < std::max(cases.size(), runs.size()); ++i) {
      if (i < cases.size()) {
        const auto& row = cases[i];
        add(entry("case", case_link(root, row.summary),
                  row.summary.engine + " " + row.device_class));
      }
      if (i < runs.size()) {
        add(entry_of_run(root, runs[i], most_names));
      }
    }
  }
  const auto told = line_above(!words.empty(), query, count, is_cut);
  Attributes attributes = {{"class", "hits"}};
  if (tools.is_static) {
    attributes.emplace_back("data-search", "");
  }
  return make_page(
      tools, request,
      {.title = "Search",
       .section = "search.html",
       .body = element("p", {{"id", "hits"}, {"role", "status"}}, told) + note_of_omitted(omitted) +
               element("section", {}, element("ul", attributes, entries))});
}

}  // namespace assay::site
