#pragma once

#include <optional>
#include <string>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"

namespace assay {

/// How long the two runs under callgrind are, in inferences. The first inference is in both.
struct InstructionPlan {
  int few = 2;
  int many = 4;
  std::optional<std::string> valgrind;  ///< Its path; absent: it is not installed.
};

/// valgrind in $PATH.
std::optional<std::string> find_valgrind();

/// Counts the instructions of an inference of every case of a finished run, under callgrind, and
/// stores them with the attempt of its profile pass: an InstructionReport as the attachment
/// "instructions", and the metric instructions_per_inference. What cannot be counted is such a
/// report with its reason.
///
/// Each case is loaded twice; the longer run less the shorter one, divided by the inferences it has
/// more, is one inference without load, start and end. No clock is involved: other work on the
/// machine changes nothing. An inference takes about fifty times as long as without callgrind.
/// Errors: as run_campaign.
Status count_instructions(const CampaignRequest& request, const CampaignTools& tools,
                          const InstructionPlan& plan);

}  // namespace assay
