#include "features/conform/repro_command.h"

#include "features/conform/plan.h"

#include <string>

#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/summary/reproduce.h"

namespace assay {

std::string repro_command(const Case& cell, const std::string& against) {
  return command_from_case(cell,
                           {.passes = {Pass::kEvaluate},
                            .against = {against.empty() ? reference_kind_of(cell) : against}});
}

}  // namespace assay
