#include "assay/campaign/resume.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/extra_cases.h"
#include "assay/record/case.h"
#include "assay/record/case_id.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

constexpr const char* kListedKind = "cases_listed";

/// A run that was stopped before its list was whole gets no mark when it is resumed, and attempts
/// only behind its list.
Result<bool> has_listed_cases(std::string_view run, ResultStore& store) {
  ASSAY_ASSIGN_OR_RETURN(const auto attachments, store.attachments_of(run));
  if (std::ranges::find(attachments, kListedKind, &Attachment::kind) != attachments.end()) {
    return true;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto attempts, store.attempts_of_run(run));
  return !attempts.empty();
}

}  // namespace

Status mark_cases_listed(ResultStore& store, std::string_view run) {
  return store.add_attachment({.owner = std::string(run), .kind = kListedKind, .content = "1"});
}

Result<ResumedCases> keep_cases_of_run(std::string_view run, ResultStore& store,
                                       std::span<CampaignRequest> requests) {
  ASSAY_ASSIGN_OR_RETURN(const bool is_listed, has_listed_cases(run, store));
  if (!is_listed) {
    return ResumedCases{};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto begun, store.cases_of_run(run));
  std::set<CaseId> ids;
  std::ranges::transform(begun, std::inserter(ids, ids.end()),
                         [](const Case& cell) { return case_id_from(cell); });
  std::set<std::string> devices;
  for (auto& request : requests) {
    devices.insert(request.context.device);
    std::erase_if(request.cases,
                  [&ids](const Case& cell) { return ids.erase(case_id_from(cell)) == 0; });
    for (const auto& extra : extra_cases_of(request)) {
      ids.erase(case_id_from(extra.cell));
    }
  }
  const auto lost = std::ranges::count_if(
      ids, [&devices](const CaseId& id) { return devices.contains(id.device); });
  ResumedCases resumed{.begun = begun.size(), .lost = static_cast<std::size_t>(lost)};
  resumed.elsewhere = ids.size() - resumed.lost;
  for (auto& request : requests) {
    request.finishes_run = request.finishes_run && resumed.elsewhere == 0;
  }
  return resumed;
}

}  // namespace assay
