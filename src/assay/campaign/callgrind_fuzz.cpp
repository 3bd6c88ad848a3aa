// Whatever a file of callgrind holds, its costs are read or it is refused.
#include <cstddef>
#include <cstdint>

#include "assay/base/result.h"
#include "assay/campaign/callgrind_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto costs = assay::callgrind_costs_from_text({reinterpret_cast<const char*>(data), size});
  if (!costs) {
    return 0;
  }
  ASSAY_CHECK(costs->total > 0);
  for (const auto& [function, own] : costs->own_by_function) {
    ASSAY_CHECK(own >= 0);
  }
  return 0;
}
