#include "assay/engine_check/engine_check.h"

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/engine_check/checks.h"
#include "assay/engine_check/conversation.h"
#include "assay/supervise/agent_client.h"

namespace assay {
namespace {

using OnFinding = std::function<void(const CheckFinding&)>;

/// Runs checks in order; false when the first `needed` of them did not all pass, as the others
/// build on them.
Result<bool> run_checks(std::span<const Check> checks, std::size_t needed, CheckContext& context,
                        const OnFinding& on_finding, std::vector<CheckFinding>& findings) {
  for (std::size_t i = 0; i < checks.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(auto found, checks[i].run(context));
    findings.push_back({checks[i].name, found.verdict, std::move(found.text)});
    if (on_finding) {
      on_finding(findings.back());
    }
    if (i < needed && found.verdict != CheckVerdict::kPass) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<std::vector<CheckFinding>> check_engine(AgentClient& agent,
                                               const EngineCheckRequest& request,
                                               const OnFinding& on_finding) {
  constexpr std::size_t kDescribesAndLoads = 2;
  CheckContext context{.interviewer = Interviewer(agent, request)};
  std::vector<CheckFinding> findings;
  ASSAY_ASSIGN_OR_RETURN(const bool goes_on, run_checks(loading_checks(), kDescribesAndLoads,
                                                        context, on_finding, findings));
  if (goes_on) {
    ASSAY_RETURN_IF_ERROR(run_checks(running_checks(), 0, context, on_finding, findings));
    ASSAY_RETURN_IF_ERROR(run_checks(resource_checks(), 0, context, on_finding, findings));
  }
  return findings;
}

ASSAY_DEFINE_JSON(CheckFinding, check, verdict, text)

}  // namespace assay
