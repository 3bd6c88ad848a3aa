// Conformance of backends side by side, and over versions of an engine.
#include "features/site/index_rows.h"
#include "features/site/latest_conformance.h"
#include "features/site/markup.h"
#include "features/site/operator_counts.h"
#include "features/site/page.h"
#include "features/site/page_parts.h"
#include "features/site/pages.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/conformance.h"
#include "assay/report/format.h"

namespace assay::site {
namespace {

/// A page shows so many settings of each suite.
constexpr std::size_t kMostSettings = 12;
constexpr std::string_view kOperators = "operators";
constexpr std::string_view kModels = "models";
constexpr std::size_t kMostDifferences = 300;

constexpr auto kSettingColumns = std::to_array<TableColumn>({{"setting"},
                                                             {"engine"},
                                                             {"device"},
                                                             {"suite"},
                                                             {"verdicts"},
                                                             {"passed", true},
                                                             {"runs, UTC"}});

std::string name_of_setting(const ConformRow& row) {
  return row.options.empty() ? row.recipe : row.recipe + " " + row.options;
}

/// "operators", and "operators, fuzz" of drawn cases.
std::string name_of_suite(const ConformRow& row) {
  return row.tier == kDrawnTier ? fmt::format("{}, {}", row.suite, kDrawnTier) : row.suite;
}

int count_of(const ConformRow& row, const std::string& verdict) {
  const auto found = row.counts.find(verdict);
  return found == row.counts.end() ? 0 : found->second;
}

/// Suite by suite, and in a suite versions of one recipe next to each other, the newest first.
std::vector<ConformRow> in_order(std::vector<ConformRow> rows) {
  std::map<std::string, std::size_t> taken;
  std::erase_if(rows,
                [&](const ConformRow& row) { return ++taken[name_of_suite(row)] > kMostSettings; });
  std::ranges::sort(rows, {}, [](const ConformRow& row) {
    return std::tuple(row.suite != kOperators, name_of_suite(row), name_of_setting(row),
                      row.device_class, row.device, -row.started_unix_ns);
  });
  return rows;
}

/// Drawn cases differ from run to run, so nothing can be set against them.
std::vector<ConformRow> of_suite(const std::vector<ConformRow>& rows, std::string_view suite) {
  std::vector<ConformRow> found;
  std::ranges::copy_if(rows, std::back_inserter(found),
                       [&](const ConformRow& row) { return name_of_suite(row) == suite; });
  return found;
}

std::string device_of_setting(const ConformRow& row) {
  return title_of_device(row.device, row.device_class);
}

/// Tells if the rows have several devices: a name without one would stand for two settings.
bool are_on_several_devices(const std::vector<ConformRow>& rows) {
  return std::ranges::any_of(rows, [&](const ConformRow& row) {
    return device_of_setting(row) != device_of_setting(rows.front());
  });
}

/// The name of a row in the chart, where rows of all suites are.
std::string name_in_chart(const ConformRow& row, bool has_device) {
  auto name = name_of_setting(row) + " " + row.engine;
  name += has_device ? " on " + device_of_setting(row) : "";
  const auto suite = name_of_suite(row);
  return suite == kOperators ? name : name + ", " + suite;
}

Json verdicts_chart(const std::vector<ConformRow>& rows) {
  auto values = Json::array();
  auto order = Json::array();
  const auto& names = kEnumNames<ConformVerdict>;
  for (const auto& [verdict, name] : names) {
    order.push_back(std::string(name));
  }
  const bool has_device = are_on_several_devices(rows);
  for (const auto& row : rows) {
    for (std::size_t rank = 0; rank < std::size(names); ++rank) {
      const std::string verdict(names[rank].second);
      if (const int count = count_of(row, verdict); count > 0) {
        values.push_back({{"setting", name_in_chart(row, has_device)},
                          {"verdict", verdict},
                          {"rank", rank},
                          {"count", count}});
      }
    }
  }
  return {{"rows", values}, {"order", order}};
}

/// The runs that the verdicts are of; how many, where they are of several.
Markup sources_text(const std::string& root, const ConformRow& row) {
  constexpr std::size_t kMost = 4;
  if (row.sources.size() < 2) {
    return run_link(root, row.run, time_text(row.started_unix_ns));
  }
  Markup lines;
  for (const auto& source : row.sources | std::views::take(kMost)) {
    lines +=
        element("div", {},
                run_link(root, source.run, time_text(source.started_unix_ns)) +
                    text(" " + report::counted(static_cast<std::size_t>(source.cases), "case")));
  }
  const auto more = row.sources.size() - std::min(row.sources.size(), kMost);
  return more == 0
             ? lines
             : lines + element("div", {{"class", "detail"}}, report::counted(more, "earlier run"));
}

Markup settings_table(const std::string& root, const std::vector<ConformRow>& settings) {
  std::vector<std::vector<Markup>> rows;
  for (const auto& row : settings) {
    const auto total = row.verdicts.size();
    rows.push_back(
        {breakable(name_of_setting(row)), breakable(row.engine), text(device_of_setting(row)),
         text(name_of_suite(row)), verdict_pills({row.counts.begin(), row.counts.end()}),
         text(fmt::format("{} of {}", count_of(row, "pass"), total)), sources_text(root, row)});
  }
  return table("Each suite, recipe, engine build and device", kSettingColumns, rows);
}

/// The class of a cell: "refused" where nothing is known against the backend but what it declared.
const char* kind_of_count(const OperatorCount& count) {
  if (count.passed == count.judged) {
    return "all";
  }
  if (count.wrong + count.died + count.failed == 0) {
    return count.other > 0 ? "some" : "refused";
  }
  return count.passed > 0 ? "some" : "none";
}

/// "3 of 6", and below it "1 wrong, 2 refused".
Markup cell_of_count(const OperatorCount& count) {
  if (count.judged == 0) {
    return element("td", {}, report::kNotMeasured);
  }
  const auto* kind = kind_of_count(count);
  auto words = text(fmt::format("{} of {}", count.passed, count.judged));
  if (const auto left = words_of_rest(count); !left.empty()) {
    words += element("span", {{"class", "detail"}}, left);
  }
  return element("td", {{"class", kind}}, words);
}

Markup matrix(std::string_view caption, const std::vector<ConformRow>& settings,
              const std::map<std::string, Markup>& rows) {
  auto head = element("th", {{"scope", "col"}}, "");
  const bool has_device = are_on_several_devices(settings);
  for (const auto& row : settings) {
    head += element(
        "th", {{"scope", "col"}},
        {breakable(name_of_setting(row)), element("span", {{"class", "detail"}}, row.engine),
         has_device ? element("span", {{"class", "detail"}}, device_of_setting(row)) : Markup()});
  }
  Markup body;
  for (const auto& [name, cells] : rows) {
    body += element("tr", {}, element("th", {{"scope", "row"}}, name) + cells);
  }
  return element(
      "div",
      {{"class", "scroll framed"},
       {"role", "region"},
       {"tabindex", "0"},
       {"aria-label", std::string(caption)}},
      element("table", {{"class", "matrix"}},
              {element("caption", {}, caption), element("thead", {}, element("tr", {}, head)),
               element("tbody", {}, body)}));
}

/// One row for each operator, or for each model.
Markup counts_matrix(std::string_view caption, const std::vector<ConformRow>& settings) {
  std::vector<std::map<std::string, OperatorCount>> counts;
  std::set<std::string> operators;
  for (const auto& row : settings) {
    counts.push_back(counts_by_operator(row));
    for (const auto& [name, count] : counts.back()) {
      operators.insert(name);
    }
  }
  std::map<std::string, Markup> rows;
  for (const auto& name : operators) {
    for (const auto& one : counts) {
      const auto found = one.find(name);
      rows[name] += cell_of_count(found == one.end() ? OperatorCount{} : found->second);
    }
  }
  return rows.empty() ? Markup() : matrix(caption, settings, rows);
}

/// The verdicts of one case, where they differ between the settings that judged it.
bool differs(const std::vector<ConformRow>& settings, const std::string& name) {
  std::set<std::string> verdicts;
  for (const auto& row : settings) {
    if (const auto found = row.verdicts.find(name);
        found != row.verdicts.end() && found->second != "not_run") {
      verdicts.insert(found->second);
    }
  }
  return verdicts.size() > 1;
}

/// A verdict, and below it its run where that is an earlier one than the others'.
Markup verdict_of_case(const std::string& root, const ConformRow& row, const std::string& name,
                       const std::string& verdict) {
  auto shown = pill(kind_of_word(verdict), verdict);
  const auto earlier = row.earlier.find(name);
  if (earlier == row.earlier.end()) {
    return shown;
  }
  const auto source = std::ranges::find(row.sources, earlier->second, &ConformSource::run);
  return source == row.sources.end()
             ? shown
             : shown + element("span", {{"class", "detail"}},
                               run_link(root, source->run, time_text(source->started_unix_ns)));
}

Markup differences(const std::string& root, const std::vector<ConformRow>& settings) {
  std::set<std::string> names;
  for (const auto& row : settings) {
    for (const auto& [name, verdict] : row.verdicts) {
      names.insert(name);
    }
  }
  std::map<std::string, Markup> rows;
  std::size_t count = 0;
  for (const auto& name : names) {
    if (!differs(settings, name) || ++count > kMostDifferences) {
      continue;
    }
    for (const auto& row : settings) {
      const auto found = row.verdicts.find(name);
      rows[name] +=
          element("td", {},
                  found == row.verdicts.end() ? text(report::kNotMeasured)
                                              : verdict_of_case(root, row, name, found->second));
    }
  }
  if (rows.empty()) {
    return {};
  }
  const auto note = count > rows.size()
                        ? element("p", {{"class", "note"}},
                                  fmt::format("The first {} of {} cases.", rows.size(), count))
                        : Markup();
  return matrix("Cases with different verdicts", settings, rows) + note;
}

/// Settings with one recipe, for a page that is asked for it.
void keep_wanted(const PageRequest& request, std::vector<ConformRow>& rows) {
  if (const auto wanted = parameter_of(request, "recipe"); !wanted.empty()) {
    std::erase_if(rows, [&](const ConformRow& row) { return row.recipe != wanted; });
  }
}

}  // namespace

Result<Page> make_conformance_page(const PageTools& tools, const PageRequest& request,
                                   const std::string& /*name*/) {
  constexpr std::int64_t kMostRead = 60;
  ASSAY_ASSIGN_OR_RETURN(auto found, tools.index.newest_conformance(kMostRead));
  keep_wanted(request, found);
  const auto count = found.size();
  const auto settings = in_order(std::move(found));
  const auto operators = of_suite(settings, kOperators);
  const auto models = of_suite(settings, kModels);
  const auto root = root_from(request.path);
  PageContent content{.title = "Conformance", .section = "conformance.html"};
  if (settings.empty()) {
    content.lede = {text("no run of conformance")};
    content.body =
        element("p", {{"class", "notice"}},
                text("The store has no run of conformance. ") +
                    element("code", {}, "assay conform --recipe RECIPE") + text(" makes one."));
    return make_page(tools, request, content);
  }
  content.lede = {
      text(report::counted(count, "setting")),
      text("a setting is a suite and a recipe on an engine build and a device; of each case its "
           "newest verdict")};
  content.body = element("section", {},
                         element("div", {{"class", "charts one"}},
                                 chart_place("verdicts", 0, "Verdicts",
                                             "of each setting, the newest of each case"))) +
                 section("Settings", settings_table(root, settings)) +
                 section("Operators", counts_matrix("Cases that passed, by operator", operators)) +
                 section("Models", counts_matrix("Models that passed", models)) +
                 section("Differences", differences(root, operators) + differences(root, models));
  if (count > settings.size()) {
    content.body += element("p", {{"class", "note"}},
                            fmt::format("The newest {} of {} settings.", settings.size(), count));
  }
  content.data = {{"charts", Json::array({verdicts_chart(settings)})}};
  return make_page(tools, request, content);
}

}  // namespace assay::site
