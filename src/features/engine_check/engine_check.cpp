#include "features/engine_check/engine_check.h"

#include "features/engine_check/checks.h"
#include "features/engine_check/conversation.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/suggest.h"
#include "assay/supervise/agent_client.h"

namespace assay {
namespace {

using OnFinding = std::function<void(const CheckFinding&)>;

bool is_wanted(const CheckContext& context, const std::string& check) {
  const auto& only = context.interviewer.request().only;
  return only.empty() || std::ranges::find(only, check) != only.end();
}

/// Runs checks in order, of those after the first `needed` what is wanted; false when the needed
/// ones did not all pass, as the others build on them.
Result<bool> run_checks(std::span<const Check> checks, std::size_t needed, CheckContext& context,
                        const OnFinding& on_finding, std::vector<CheckFinding>& findings) {
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (i >= needed && !is_wanted(context, checks[i].name)) {
      continue;
    }
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

std::vector<std::string> check_names() {
  std::vector<std::string> names;
  for (const auto checks : {loading_checks(), running_checks(), resource_checks()}) {
    std::ranges::transform(checks, std::back_inserter(names), &Check::name);
  }
  return names;
}

Status check_wanted(const std::vector<std::string>& names) {
  const auto known = check_names();
  for (const auto& name : names) {
    if (std::ranges::find(known, name) == known.end()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("no check '{}'{}", name, suggestion_for(name, known)));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<CheckFinding>> check_engine(AgentClient& agent,
                                               const EngineCheckRequest& request,
                                               const OnFinding& on_finding) {
  constexpr std::size_t kDescribesAndLoads = 2;
  ASSAY_RETURN_IF_ERROR(check_wanted(request.only));
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
