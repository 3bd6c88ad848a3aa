#include "assay/record/job_execution.h"

#include <nlohmann/json.hpp>

#include "assay/base/json.h"

namespace assay {

ASSAY_DEFINE_JSON(JobExecution, id, run, job, n, worker, device, started_unix_ns, finished_unix_ns,
                  accepted_unix_ns, is_counted)

}  // namespace assay
