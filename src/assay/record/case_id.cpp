#include "assay/record/case_id.h"

#include <map>
#include <set>
#include <string>

#include "assay/record/case.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/record/summary.h"

namespace assay {
namespace {

/// Keys of cases that a run has in several variants.
std::set<std::string> keys_with_several(const std::set<CaseId>& ids,
                                        std::string CaseId::* variant) {
  std::map<std::string, std::set<std::string>> variants;
  for (const auto& id : ids) {
    variants[id.case_key].insert(id.*variant);
  }
  std::set<std::string> keys;
  for (const auto& [key, found] : variants) {
    if (found.size() > 1) {
      keys.insert(key);
    }
  }
  return keys;
}

}  // namespace

CaseId case_id_from(const Case& cell) {
  return {.case_key = case_key(cell), .engine_build = cell.engine_build, .device = cell.device};
}

CaseId case_id_from(const CaseSummary& summary) {
  return {.case_key = summary.case_key, .engine_build = summary.engine, .device = summary.device};
}

CaseId case_id_from(const Attempt& attempt, const Subject& subject) {
  return {
      .case_key = attempt.case_key, .engine_build = subject.engine_build, .device = attempt.device};
}

MatchedIds::MatchedIds(const std::set<CaseId>& a, const std::set<CaseId>& b) {
  for (const auto* ids : {&a, &b}) {
    with_builds_.merge(keys_with_several(*ids, &CaseId::engine_build));
    with_devices_.merge(keys_with_several(*ids, &CaseId::device));
  }
}

CaseId MatchedIds::shared(CaseId id) const {
  if (!with_builds_.contains(id.case_key)) {
    id.engine_build.clear();
  }
  if (!with_devices_.contains(id.case_key)) {
    id.device.clear();
  }
  return id;
}

}  // namespace assay
