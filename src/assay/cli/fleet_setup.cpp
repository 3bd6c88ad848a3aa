#include "assay/cli/fleet_setup.h"

#include <CLI/CLI.hpp>
#include <string>

#include "assay/artifact/toolchain.h"
#include "assay/base/result.h"
#include "assay/fleet/open_executor.h"
#include "assay/remote/inventory.h"

namespace assay::cli {

void declare_executor(CLI::App& app, std::string& executor) {
  app.add_option("--executor", executor,
                 "Run the cases on the devices of a fleet: an executor of devices.json");
}

Result<ConfiguredExecutor> open_executor_named(const std::string& name, const std::string& python) {
  ASSAY_ASSIGN_OR_RETURN(const auto inventory, Inventory::read(Inventory::default_file()));
  ASSAY_ASSIGN_OR_RETURN(const auto entry, inventory.get_executor(name));
  return open_executor(name, entry, default_python(python));
}

}  // namespace assay::cli
