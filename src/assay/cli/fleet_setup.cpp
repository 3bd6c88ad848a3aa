#include "assay/cli/fleet_setup.h"

#include <string>

#include "assay/artifact/toolchain.h"
#include "assay/base/result.h"
#include "assay/fleet/open_executor.h"
#include "assay/remote/inventory.h"

namespace assay::cli {

Result<ConfiguredExecutor> open_executor_named(const std::string& name, const std::string& python) {
  ASSAY_ASSIGN_OR_RETURN(const auto inventory, Inventory::read(Inventory::default_file()));
  ASSAY_ASSIGN_OR_RETURN(const auto entry, inventory.get_executor(name));
  return open_executor(name, entry, default_python(python));
}

}  // namespace assay::cli
