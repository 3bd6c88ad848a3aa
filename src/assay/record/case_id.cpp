#include "assay/record/case_id.h"

#include "assay/record/case.h"

namespace assay {

CaseId case_id_from(const Case& cell) {
  return {.case_key = case_key(cell), .engine_build = cell.engine_build, .device = cell.device};
}

}  // namespace assay
