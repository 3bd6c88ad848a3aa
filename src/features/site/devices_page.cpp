// Devices that runs were made on.
#include "features/site/index_rows.h"
#include "features/site/markup.h"
#include "features/site/page.h"
#include "features/site/page_parts.h"
#include "features/site/pages.h"

#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/record/run.h"
#include "assay/report/format.h"

namespace assay::site {
namespace {

Markup facts_list(const std::vector<std::pair<std::string, Markup>>& facts) {
  Markup all;
  for (const auto& [name, value] : facts) {
    if (!value.is_empty()) {
      all += element("div", {}, {element("dt", {}, name), element("dd", {}, value)});
    }
  }
  return element("dl", {{"class", "facts"}}, all);
}

constexpr std::int64_t kRunsOfDevice = 5;

/// "2026-11-27 07:12 bench mobilenet_v2", each with its result.
Markup runs_list(const std::string& root, const std::vector<RunRow>& runs) {
  Markup items;
  for (const auto& run : runs) {
    items += element("li", {},
                     {time_text(run.started_unix_ns),
                      text(" " + (run.verb.empty() ? run.purpose : run.verb) + " "),
                      run_link(root, run.id, title_of_run(run)), text(" "), run_result(run)});
  }
  return element("ul", {{"class", "plainlist"}}, items);
}

/// The runs of a device, where they can be listed by its name.
Markup all_runs(const PageTools& tools, const std::string& root, const MachineUse& machine) {
  const auto count = report::counted(static_cast<std::size_t>(machine.runs), "run");
  const auto words =
      machine.failed_runs == 0 ? count : fmt::format("{}, {} failed", count, machine.failed_runs);
  return tools.is_static
             ? text(words)
             : link(root + "runs.html?steps=1&device=" + percent_encoded(machine.newest.device),
                    words);
}

Result<Markup> card_of_machine(const PageTools& tools, const std::string& root,
                               const MachineUse& machine) {
  const auto& environment = machine.newest.environment;
  const auto& name = machine.newest.device;
  const auto title = name == "local" ? "this machine (local)" : name;
  ASSAY_ASSIGN_OR_RETURN(const auto newest,
                         tools.index.runs_of_machine(machine.newest, kRunsOfDevice));
  const auto cpus = environment.cpus == 0 ? std::string() : fmt::to_string(environment.cpus);
  const auto memory = environment.memory_bytes == 0
                          ? std::string()
                          : text_from_bytes(static_cast<double>(environment.memory_bytes));
  return element(
      "div", {{"class", "card"}},
      {element("h3", {}, title),
       facts_list(
           {{"Last seen, UTC", link(root + "runs/" + percent_encoded(machine.last_run) + ".html",
                                    time_text(machine.last_unix_ns))},
            {"First seen, UTC", time_text(machine.first_unix_ns)},
            {"Runs", all_runs(tools, root, machine)},
            {"Device class", text(environment.device_class)},
            {"Processor", text(environment.cpu_model)},
            {"CPUs", text(cpus)},
            {"Cores", text(text_of_detail(environment, kCoresDetail))},
            {"Memory", text(memory)},
            {"System", text(environment.os)},
            {"Kernel", text(environment.kernel)},
            {"Hypervisor", text(environment.hypervisor)},
            {"Policy", text(text_of_detail(environment, kPolicyDetail))},
            {"CPU features", text(fmt::format("{}", fmt::join(environment.cpu_flags, " ")))}}),
       element("h4", {}, "Newest runs"), runs_list(root, newest)});
}

}  // namespace

Result<Page> make_devices_page(const PageTools& tools, const PageRequest& request,
                               const std::string& /*name*/) {
  ASSAY_ASSIGN_OR_RETURN(const auto machines, tools.index.machines());
  const auto root = root_from(request.path);
  ASSAY_ASSIGN_OR_RETURN(const auto workers, tools.index.fleet_rows(1));
  std::vector<Markup> lede = {text(report::counted(machines.size(), "device")),
                              text("as they described themselves in their newest run")};
  if (!workers.empty()) {
    lede.push_back(link(root + "fleet.html", "workers of fleets"));
  }
  Markup cards;
  for (const auto& machine : machines) {
    ASSAY_ASSIGN_OR_RETURN(const auto card, card_of_machine(tools, root, machine));
    cards += card;
  }
  return make_page(
      tools, request,
      {.title = "Devices",
       .section = "devices.html",
       .lede = lede,
       .body = cards.is_empty()
                   ? element("p", {{"class", "notice"}}, "The store has no run yet.")
                   : element("section", {}, element("div", {{"class", "cards"}}, cards))});
}

}  // namespace assay::site
