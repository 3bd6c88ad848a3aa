// Workers of fleets: what they executed, and what was lost.
#include "features/site/index_rows.h"
#include "features/site/markup.h"
#include "features/site/page.h"
#include "features/site/page_parts.h"
#include "features/site/pages.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/report/format.h"
#include "assay/runs/run_overview.h"

namespace assay::site {
namespace {

/// Lost executions that are shown.
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

std::vector<std::vector<Markup>> worker_rows(const std::string& root,
                                             const std::vector<WorkerUse>& uses,
                                             const std::map<std::string, int>& lost) {
  std::vector<std::vector<Markup>> rows;
  for (const auto& use : uses) {
    const auto gone = lost.find(use.device);
    rows.push_back({text(use.worker), text(use.device), time_text(use.last_unix_ns),
                    run_link(root, use.last_run, short_run_id(use.last_run)),
                    text(fmt::to_string(use.runs)), text(fmt::to_string(use.executions)),
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
  ASSAY_ASSIGN_OR_RETURN(const auto uses, tools.index.worker_uses());
  ASSAY_ASSIGN_OR_RETURN(const auto lost, tools.index.lost_rows(kMostLost));
  ASSAY_ASSIGN_OR_RETURN(const auto lost_by_device, tools.index.count_lost());
  const auto root = root_from(request.path);
  std::size_t all_lost = 0;
  for (const auto& [device, count] : lost_by_device) {
    all_lost += static_cast<std::size_t>(count);
  }
  const auto note =
      all_lost == lost.size()
          ? Markup()
          : element("p", {{"class", "note"}},
                    fmt::format("The newest {} of {} lost executions.", lost.size(), all_lost));
  const auto body =
      uses.empty() && lost.empty()
          ? element("p", {{"class", "notice"}},
                    "No run of this store was executed by a fleet: assay run --executor NAME.")
          : section("Workers", table("Workers, the last one to work first", kWorkerColumns,
                                     worker_rows(root, uses, lost_by_device))) +
                (lost.empty() ? Markup()
                              : section("Lost executions",
                                        table("Executions that came to no end, newest runs first",
                                              kLostColumns, lost_rows(root, lost)) +
                                            note));
  return make_page(tools, request,
                   {.title = "Fleet",
                    .section = "devices.html",
                    .lede = {text(report::counted(uses.size(), "worker")),
                             text(report::counted(all_lost, "lost execution")),
                             text("what waits and who is there now: assay fleet status")},
                    .body = body});
}

}  // namespace assay::site
