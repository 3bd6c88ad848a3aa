#include "features/site/page_parts.h"

#include "features/site/index_update.h"
#include "features/site/markup.h"
#include "features/site/page.h"
#include "site_assets.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/digest.h"
#include "assay/base/json.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"
#include "assay/report/format.h"
#include "assay/report/writer.h"
#include "assay/runs/run_overview.h"

namespace assay::site {
namespace {

constexpr auto kSections = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"index.html", "Overview"},
    {"runs.html", "Runs"},
    {"models.html", "Models"},
    {"conformance.html", "Conformance"},
    {"comparisons.html", "Comparisons"},
    {"incidents.html", "Incidents"},
    {"devices.html", "Devices"},
});

Markup navigation(const PageRequest& request, std::string_view section) {
  const auto root = root_from(request.path);
  Markup links;
  for (const auto& [path, title] : kSections) {
    const Attribute current =
        path == section ? Attribute{"aria-current", "page"} : Attribute{"", ""};
    links += element("a", {{"href", root + std::string(path)}, current}, title);
  }
  const auto search =
      element("form", {{"role", "search"}, {"action", root + "search.html"}, {"method", "get"}},
              empty_element("input", {{"type", "search"},
                                      {"name", "q"},
                                      {"aria-label", "Search runs, cases and models"},
                                      {"placeholder", "Search"},
                                      {"value", parameter_of(request, "q")}}));
  return element("nav", {{"class", "site wrap"}, {"aria-label", "Site"}}, {links, search});
}

std::string replaced(std::string page, std::string_view mark, const std::string& value) {
  const auto at = page.find(mark);
  ASSAY_CHECK(at != std::string::npos);
  return page.replace(at, mark.size(), value);
}

Markup index_notice(const IndexState& state) {
  if (state.pending == 0) {
    return {};
  }
  return element("p", {{"class", "notice"}},
                 fmt::format("{} of {} runs are still being read into the index of this site; "
                             "lists and charts lack them until then.",
                             state.pending, state.runs));
}

}  // namespace

std::string root_from(const std::string& path) {
  std::string root;
  for (const char c : path) {
    root += c == '/' ? "../" : "";
  }
  return root;
}

std::string parameter_of(const PageRequest& request, const std::string& name,
                         const std::string& otherwise) {
  const auto found = request.query.find(name);
  return found == request.query.end() || found->second.empty() ? otherwise : found->second;
}

SitePlace site_place(const PageRequest& request, std::string_view section, const Markup& below) {
  const auto root = root_from(request.path);
  return {
      .assets = root + "assets/",
      .head =
          empty_element("link", {{"rel", "stylesheet"}, {"href", root + "assets/site.css"}}).html(),
      .navigation = (navigation(request, section) + below).html()};
}

Page make_page(const PageTools& tools, const PageRequest& request, const PageContent& content) {
  const auto root = root_from(request.path);
  Markup lede;
  for (const auto& fact : content.lede) {
    lede += element("span", {}, fact);
  }
  const auto head = element("h1", {}, content.title) + element("p", {{"class", "lede"}}, lede);
  std::string scripts;
  if (!content.data.is_null()) {
    scripts = json_element("assay-data", text_from_json(content.data)).html();
    for (const auto* name : {"vega.js", "site.js"}) {
      scripts += fmt::format("<script src=\"{}assets/{}\"></script>", root, name);
    }
  } else {
    scripts = fmt::format("<script src=\"{}assets/site.js\"></script>", root);
  }
  // Data go in last, so that nothing in them is taken for a mark.
  auto page = replaced(std::string(site_assets("page_frame.html")), "@ASSETS@", root + "assets/");
  page = replaced(std::move(page), "@ASSETS@", root + "assets/");
  const auto title = text(content.title).html();
  const auto marks = std::to_array<std::pair<std::string_view, std::string>>(
      {{"@TITLE@", title},
       {"@NAVIGATION@", navigation(request, content.section).html()},
       {"@HEAD@", head.html()},
       {"@MAIN@", (index_notice(tools.state) + content.body).html()},
       {"@FOOTER@", text("Assay, store " + tools.store_name).html()},
       {"@SCRIPTS@", scripts}});
  std::string body;
  std::string_view rest = page;
  for (const auto& [mark, value] : marks) {
    const auto at = rest.find(mark);
    ASSAY_CHECK(at != std::string_view::npos);
    body += rest.substr(0, at);
    body += value;
    rest.remove_prefix(at + mark.size());
  }
  return {.body = body + std::string(rest)};
}

Markup table(std::string_view caption, std::span<const TableColumn> columns,
             const std::vector<std::vector<Markup>>& rows) {
  Markup head;
  for (const auto& column : columns) {
    head += element("th", {{"scope", "col"}, {"class", column.is_number ? "number" : ""}},
                    column.title);
  }
  Markup body;
  for (const auto& cells : rows) {
    Markup row;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string kind = fmt::format("{}{}", columns[i].is_number ? "number" : "",
                                           cells[i].is_empty() ? " missing" : "");
      row += i == 0
                 ? element("th", {{"scope", "row"}}, cells[i])
                 : element("td", {{"class", kind}, {"data-label", std::string(columns[i].title)}},
                           cells[i].is_empty() ? text(report::kNotMeasured) : cells[i]);
    }
    body += element("tr", {}, row);
  }
  const auto content =
      element("table", {{"class", "cases"}},
              {element("caption", {{"class", "hidden"}}, caption),
               element("thead", {}, element("tr", {}, head)), element("tbody", {}, body)});
  // The script shows the hint where the table is too wide.
  return element("div", {{"class", "scroller"}},
                 {element("p", {{"class", "hint"}, {"aria-hidden", "true"}},
                          "more columns: scroll sideways →"),
                  element("div",
                          {{"class", "scroll framed"},
                           {"role", "region"},
                           {"tabindex", "0"},
                           {"aria-label", std::string(caption)}},
                          content)});
}

Markup section(std::string_view heading, const Markup& body, std::string_view id) {
  if (body.is_empty()) {
    return {};
  }
  return element("section", {{id.empty() ? "" : "id", std::string(id)}},
                 {element("h2", {}, heading), body});
}

Markup chart_place(std::string_view kind, int number, std::string_view title,
                   std::string_view note) {
  return element(
      "figure",
      {{"class", "chart"},
       {"data-chart", std::string(kind)},
       {"data-number", fmt::to_string(number)},
       {"aria-label", std::string(title)}},
      {element("figcaption", {},
               {element("strong", {}, title), element("span", {{"class", "muted"}}, note)}),
       element("div", {{"class", "canvas"}}, "")});
}

Markup pill(std::string_view kind, std::string_view word) {
  static const std::map<std::string_view, const char*> marks = {
      {"pass", "✓"}, {"fail", "✗"}, {"inconclusive", "?"}, {"skipped", "–"}};
  const auto mark = marks.find(kind);
  std::string words(word);
  std::ranges::replace(words, '_', ' ');
  return element("span", {{"class", fmt::format("pill {}", kind)}},
                 {element("span", {{"class", "mark"}, {"aria-hidden", "true"}},
                          mark == marks.end() ? "–" : mark->second),
                  text(words)});
}

std::string_view kind_of_word(std::string_view word) {
  static const std::map<std::string_view, std::string_view> kinds = {
      {"pass", "pass"},
      {"faster", "pass"},
      {"equivalent", "pass"},
      {"identical", "pass"},
      {"fixed", "pass"},
      {"changed_less", "pass"},
      {"inconclusive", "inconclusive"},
      {"changed", "inconclusive"},
      {"vacuous", "inconclusive"},
      {"harness_error", "inconclusive"},
      {"nominated", "inconclusive"},
      {"verifying", "inconclusive"},
      {"undecided", "inconclusive"},
      {"acknowledged", "inconclusive"},
      {"skipped", "skipped"},
      {"unsupported", "skipped"},
      {"not_run", "skipped"},
      {"rejected", "skipped"},
      {"accepted", "skipped"},
      {"not_checked", "skipped"}};
  const auto found = kinds.find(word);
  return found == kinds.end() ? "fail" : found->second;
}

Markup verdict_pills(const std::vector<std::pair<std::string, int>>& verdicts) {
  Markup pills;
  for (const auto& [verdict, count] : verdicts) {
    pills += pill(kind_of_word(verdict), fmt::format("{} {}", count, verdict));
  }
  return pills.is_empty() ? pills : element("span", {{"class", "pills"}}, pills);
}

Markup time_text(std::int64_t unix_ns) {
  if (unix_ns == 0) {
    return {};
  }
  const auto iso = iso8601_from_unix_ns(unix_ns);
  return element("time", {{"datetime", iso}}, iso.substr(0, 10) + " " + iso.substr(11, 5));
}

Markup metric_text(const CaseSummary& summary, std::string_view metric) {
  const auto found = summary.metrics.find(std::string(metric));
  return found == summary.metrics.end() ? Markup()
                                        : text(report::text_from_metric(metric, found->second));
}

Markup metric_with_interval(const CaseSummary& summary, std::string_view metric) {
  const auto found = summary.metrics.find(std::string(metric));
  if (found == summary.metrics.end()) {
    return {};
  }
  const auto* definition = find_metric(metric);
  const auto scale =
      report::scale_for(definition == nullptr ? "" : definition->unit, {found->second.value});
  const auto interval = report::text_from_interval(found->second, scale);
  return element("b", {}, report::text_from_metric(metric, found->second)) +
         (interval.empty() ? Markup() : element("span", {{"class", "detail"}}, interval));
}

std::string accuracy_metric(const CaseSummary& summary) {
  const auto& metrics = summary.metrics;
  for (const std::string metric : {"top1_accuracy", "sqnr_db", "max_abs_error"}) {
    auto found = metrics.find(metric);
    if (found == metrics.end()) {
      found = std::ranges::find_if(
          metrics, [&](const auto& entry) { return entry.first.ends_with("." + metric); });
    }
    if (found != metrics.end()) {
      return found->first;
    }
  }
  return {};
}

Markup accuracy_text(const CaseSummary& summary) {
  const auto name = accuracy_metric(summary);
  if (name.empty()) {
    return {};
  }
  const auto dot = name.rfind('.');
  const auto metric = name.substr(dot + 1);  // The whole name where there is no dot.
  const auto against = dot == std::string::npos ? "float32" : name.substr(0, dot);
  return text(report::text_from_metric(metric, summary.metrics.at(name))) +
         element("span", {{"class", "detail"}},
                 fmt::format("{} against {}", find_metric(metric)->title, against));
}

Markup run_result(const RunRow& run) {
  if (!run.problem.empty()) {
    return pill("fail", "unreadable") + element("span", {{"class", "detail"}}, run.problem);
  }
  const auto pills = verdict_pills(run.verdicts);
  return run.state == "finished" ? pills : pill("inconclusive", run.state) + text(" ") + pills;
}

Markup no_run_notice() {
  return element("p", {{"class", "notice"}},
                 text("The store has no run yet. ") + element("code", {}, "assay bench MODEL") +
                     text(" makes one."));
}

Markup run_link(const std::string& root, const std::string& run, std::string_view words) {
  return link(root + "runs/" + percent_encoded(run) + ".html", words);
}

Markup run_link(const std::string& root, const std::string& run, const Markup& content) {
  return link(root + "runs/" + percent_encoded(run) + ".html", content);
}

Markup case_link(const std::string& root, const CaseSummary& summary) {
  return link(root + "cases/" + percent_encoded(summary.case_key) + ".html",
              text(summary.label.empty() ? summary.case_key.substr(0, 12) : summary.label));
}

std::string model_path(const std::string& ref) {
  constexpr std::size_t kDigits = 16;
  return "models/" + sha256_hex(ref).substr(0, kDigits) + ".html";
}

Result<ModelUse> find_model(RunIndex& index, const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const auto refs, index.model_refs());
  const auto path = "models/" + name + ".html";
  const auto found = std::ranges::find(refs, path, model_path);
  return found == refs.end() ? fail(ErrorCode::kNotFound, fmt::format("no model '{}'", name))
                             : index.model_use(*found);
}

Markup labels_text(const std::map<std::string, std::string>& labels) {
  Markup all;
  for (const auto& [key, value] : labels) {
    all += element("span", {{"class", "label"}, {"title", value}}, brief_label(key, value));
  }
  return all;
}

Markup pager(const std::string& stem, std::int64_t page, std::int64_t count,
             const std::string& query, std::int64_t rows) {
  const std::int64_t pages = (count + rows - 1) / rows;
  if (pages <= 1) {
    return {};
  }
  const auto href = [&](std::int64_t number) {
    return (number == 1 ? stem + ".html" : fmt::format("{}-{}.html", stem, number)) + query;
  };
  Markup links;
  for (std::int64_t number = 1; number <= pages; ++number) {
    const bool is_near = std::abs(number - page) <= 2 || number == 1 || number == pages;
    if (number == page) {
      links += element("b", {{"aria-current", "page"}}, fmt::to_string(number));
    } else if (is_near) {
      links += link(href(number), fmt::to_string(number));
    } else if (number == 2 || number == pages - 1) {
      links += text("…");
    }
  }
  return element("nav", {{"class", "pager"}, {"aria-label", "Pages"}}, links);
}

Result<std::int64_t> page_number(const std::string& name) {
  if (name.empty()) {
    return 1;
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  constexpr std::int64_t kMost = 1'000'000;
  if (error != std::errc() || end != name.data() + name.size() || number < 2 || number > kMost) {
    return fail(ErrorCode::kNotFound, "no such page");
  }
  return number;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

}  // namespace assay::site
