#include "assay/record/sandbox.h"

#include "assay/base/json.h"

namespace assay {

ASSAY_DEFINE_JSON(SandboxRequest, mode, readable, writable, keeps_files)
ASSAY_DEFINE_JSON(SandboxReport, mode, enforced, missing)

}  // namespace assay
