// Machines that runs were made on.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/record/run.h"
#include "assay/report/format.h"
#include "assay/site/index_rows.h"
#include "assay/site/markup.h"
#include "assay/site/page.h"
#include "assay/site/page_parts.h"
#include "assay/site/pages.h"

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

Markup card_of_machine(const std::string& root, const MachineUse& machine) {
  const auto& environment = machine.newest.environment;
  const auto& name = machine.newest.device;
  const auto title = name == "local" || name.empty() ? environment.device_class
                                                     : name + ", " + environment.device_class;
  const auto cpus = environment.cpus == 0 ? std::string() : fmt::to_string(environment.cpus);
  const auto memory = environment.memory_bytes == 0
                          ? std::string()
                          : text_from_bytes(static_cast<double>(environment.memory_bytes));
  return element(
      "div", {{"class", "card"}},
      {element("h3", {}, title.empty() ? "unknown machine" : title),
       facts_list(
           {{"Processor", text(environment.cpu_model)},
            {"CPUs", text(cpus)},
            {"Cores", text(text_of_detail(environment, kCoresDetail))},
            {"Memory", text(memory)},
            {"System", text(environment.os)},
            {"Kernel", text(environment.kernel)},
            {"Hypervisor", text(environment.hypervisor)},
            {"Policy", text(text_of_detail(environment, kPolicyDetail))},
            {"CPU features", text(fmt::format("{}", fmt::join(environment.cpu_flags, " ")))},
            {"Runs", text(fmt::to_string(machine.runs))},
            {"First run, UTC", time_text(machine.first_unix_ns)},
            {"Last run, UTC", link(root + "runs/" + percent_encoded(machine.last_run) + ".html",
                                   time_text(machine.last_unix_ns))}})});
}

}  // namespace

Result<Page> make_devices_page(const PageTools& tools, const PageRequest& request,
                               const std::string& /*name*/) {
  ASSAY_ASSIGN_OR_RETURN(const auto machines, tools.index.machines());
  const auto root = root_from(request.path);
  Markup cards;
  for (const auto& machine : machines) {
    cards += card_of_machine(root, machine);
  }
  return make_page(
      tools, request,
      {.title = "Devices",
       .section = "devices.html",
       .lede = {text(report::counted(machines.size(), "machine")),
                text("as they described themselves in their newest run")},
       .body = cards.is_empty()
                   ? element("p", {{"class", "notice"}}, "The store has no run yet.")
                   : element("section", {}, element("div", {{"class", "cards"}}, cards))});
}

}  // namespace assay::site
