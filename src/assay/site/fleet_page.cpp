// Workers of fleets: what they executed, and what was lost.
#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/report/format.h"
#include "assay/runs/run_overview.h"
#include "assay/site/index_rows.h"
#include "assay/site/markup.h"
#include "assay/site/page.h"
#include "assay/site/page_parts.h"
#include "assay/site/pages.h"

namespace assay::site {
namespace {

/// Workers in runs that are read, and lost executions that are shown.
constexpr std::int64_t kMostFleetRows = 5000;
constexpr std::int64_t kMostLost = 200;

constexpr auto kWorkerColumns = std::to_array<TableColumn>({{"worker"},
                                                            {"device"},
                                                            {"last sign of work, UTC"},
                                                            {"last run"},
                                                            {"runs", true},
                                                            {"executions", true},
                                                            {"not counted", true},
                                                            {"lost", true}});

constexpr auto kLostColumns =
    std::to_array<TableColumn>({{"lost, UTC"}, {"device"}, {"executed"}, {"why"}, {"run"}});

/// A worker and its device over all runs.
struct WorkerUse {
  std::set<std::string> runs;
  std::string last_run;
  std::int64_t last_unix_ns = 0;
  int executions = 0;
  int not_counted = 0;
};

using WorkerUses = std::map<std::pair<std::string, std::string>, WorkerUse>;

WorkerUses uses_of(const std::vector<FleetRow>& rows) {
  WorkerUses uses;
  for (const auto& row : rows) {
    auto& use = uses[{row.worker, row.device}];
    use.runs.insert(row.run);
    use.executions += row.executions;
    use.not_counted += row.not_counted;
    if (use.last_run.empty() || row.last_unix_ns > use.last_unix_ns) {
      use.last_run = row.run;
      use.last_unix_ns = row.last_unix_ns;
    }
  }
  return uses;
}

std::vector<std::vector<Markup>> worker_rows(const std::string& root, const WorkerUses& uses,
                                             const std::map<std::string, int>& lost) {
  std::vector<WorkerUses::const_iterator> order;
  for (auto one = uses.begin(); one != uses.end(); ++one) {
    order.push_back(one);
  }
  // By name where two were seen at one time.
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return std::tuple(-a->second.last_unix_ns, a->first) <
           std::tuple(-b->second.last_unix_ns, b->first);
  });
  std::vector<std::vector<Markup>> rows;
  for (const auto& one : order) {
    const auto& [name, use] = *one;
    const auto gone = lost.find(name.second);
    rows.push_back({text(name.first), text(name.second), time_text(use.last_unix_ns),
                    run_link(root, use.last_run, short_run_id(use.last_run)),
                    text(fmt::to_string(use.runs.size())), text(fmt::to_string(use.executions)),
                    text(fmt::to_string(use.not_counted)),
                    text(fmt::to_string(gone == lost.end() ? 0 : gone->second))});
  }
  return rows;
}

std::vector<std::vector<Markup>> lost_rows(const std::string& root,
                                           const std::vector<LostRow>& lost) {
  std::vector<std::vector<Markup>> rows;
  for (const auto& row : lost) {
    const auto& one = row.lost;
    rows.push_back({time_text(one.lost_unix_ns),
                    text(one.device.empty() ? "not known" : one.device), text(one.label),
                    text(one.why), run_link(root, row.run, short_run_id(row.run))});
  }
  return rows;
}

}  // namespace

Result<Page> make_fleet_page(const PageTools& tools, const PageRequest& request,
                             const std::string& /*name*/) {
  ASSAY_ASSIGN_OR_RETURN(const auto rows, tools.index.fleet_rows(kMostFleetRows));
  ASSAY_ASSIGN_OR_RETURN(const auto lost, tools.index.lost_rows(kMostLost));
  const auto root = root_from(request.path);
  const auto uses = uses_of(rows);
  std::map<std::string, int> lost_by_device;
  for (const auto& row : lost) {
    ++lost_by_device[row.lost.device];
  }
  const auto body =
      uses.empty() && lost.empty()
          ? element("p", {{"class", "notice"}},
                    "No run of this store was executed by a fleet: assay run --executor NAME.")
          : section("Workers", table("Workers, the last one to work first", kWorkerColumns,
                                     worker_rows(root, uses, lost_by_device))) +
                (lost.empty() ? Markup()
                              : section("Lost executions",
                                        table("Executions that came to no end, newest runs first",
                                              kLostColumns, lost_rows(root, lost))));
  return make_page(tools, request,
                   {.title = "Fleet",
                    .section = "devices.html",
                    .lede = {text(report::counted(uses.size(), "worker")),
                             text(report::counted(lost.size(), "lost execution")),
                             text("what waits and who is there now: assay fleet status")},
                    .body = body});
}

}  // namespace assay::site
