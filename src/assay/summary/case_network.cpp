#include "assay/summary/case_network.h"

#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/json.h"
#include "assay/record/summary.h"

namespace assay {

std::string network_of(const CaseSummary& cell) {
  Json network = {{"model", cell.model}, {"shapes", cell.shapes}};
  for (const auto* part : {"model", "method", "inputs"}) {
    if (cell.identity.is_object() && cell.identity.contains(part)) {
      network["identity"][part] = cell.identity.at(part);
    }
  }
  return digest_of_json(network);
}

}  // namespace assay
