#include "features/site/routes.h"

#include "features/site/api.h"
#include "features/site/page.h"
#include "features/site/pages.h"

#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>

#include "assay/base/result.h"
#include "assay/base/text.h"

namespace assay::site {
namespace {

/// A path is `before`, and where there is an `after` or the path goes on, a name between the two.
struct Route {
  std::string_view before;
  std::string_view after;
  bool has_name = false;
  MakePage make = nullptr;
  bool reads_store = false;  ///< Else the index alone.
};

constexpr auto kRoutes = std::to_array<Route>({
    {"index.html", "", false, make_overview_page, true},  // Incidents.
    {"runs.html", "", false, make_runs_page},
    {"runs-", ".html", true, make_runs_page},
    {"runs/", ".html", true, make_run_page, true},
    {"cases/", ".html", true, make_case_page},
    {"models.html", "", false, make_models_page},
    {"models/", ".html", true, make_model_page},
    {"conformance.html", "", false, make_conformance_page},
    {"comparisons.html", "", false, make_comparisons_page},
    {"comparisons-", ".html", true, make_comparisons_page},
    {"compare.html", "", false, make_compare_page, true},
    {"incidents.html", "", false, make_incidents_page, true},
    {"history/", ".html", true, make_history_page, true},
    {"devices.html", "", false, make_devices_page},
    {"fleet.html", "", false, make_fleet_page},
    {"search.html", "", false, make_search_page},
    {"assets/", "", true, make_asset},
    {"api/openapi.json", "", false, make_api_description},
    {"api/status", "", false, make_api_status},
    {"api/runs", "", false, make_api_runs},
    {"api/runs/", "/report", true, make_api_report, true},
    {"api/runs/", "", true, make_api_run},
    {"api/cases/", "", true, make_api_case},
    {"api/models", "", false, make_api_models},
    {"api/models/", "", true, make_api_model},
    {"api/conformance", "", false, make_api_conformance},
    {"api/comparisons", "", false, make_api_comparisons},
    {"api/devices", "", false, make_api_devices},
});

bool is_name(std::string_view name) {
  constexpr std::size_t kMostNameBytes = 200;
  return !name.empty() && name.size() <= kMostNameBytes &&
         name.find_first_of("/\\") == std::string_view::npos &&
         name.find("..") == std::string_view::npos && printable(name) == name;
}

/// The route of a path and the name in it; null if there is none.
std::pair<const Route*, std::string_view> matching_route(std::string_view path) {
  const std::string_view asked = path.empty() ? std::string_view("index.html") : path;
  for (const auto& route : kRoutes) {
    if (!route.has_name && asked == route.before) {
      return {&route, {}};
    }
    if (!route.has_name || !asked.starts_with(route.before) || !asked.ends_with(route.after) ||
        asked.size() < route.before.size() + route.after.size()) {
      continue;
    }
    const auto name =
        asked.substr(route.before.size(), asked.size() - route.before.size() - route.after.size());
    if (is_name(name)) {
      return {&route, name};
    }
  }
  return {nullptr, {}};
}

}  // namespace

Result<std::pair<MakePage, std::string>> find_route(const std::string& path) {
  const auto [route, name] = matching_route(path);
  if (route == nullptr) {
    return fail(ErrorCode::kNotFound, "no such page");
  }
  return std::pair(route->make, std::string(name));
}

bool reads_store(const std::string& path) {
  const auto* route = matching_route(path).first;
  return route != nullptr && route->reads_store;
}

}  // namespace assay::site
