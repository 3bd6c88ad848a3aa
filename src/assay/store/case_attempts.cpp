#include "assay/store/case_attempts.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/case_id.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

/// Each subject is read once.
class SubjectReader {
 public:
  explicit SubjectReader(ResultStore& store) : store_(store) {}

  Result<CaseId> case_id_of(const Attempt& attempt) {
    if (attempt.subject.empty()) {
      return case_id_from(attempt, {});
    }
    auto found = subjects_.find(attempt.subject);
    if (found == subjects_.end()) {
      ASSAY_ASSIGN_OR_RETURN(auto subject, store_.get_subject(attempt.subject));
      found = subjects_.emplace(attempt.subject, std::move(subject)).first;
    }
    return case_id_from(attempt, found->second);
  }

 private:
  ResultStore& store_;
  std::map<std::string, Subject> subjects_;
};

using KeyAndDevice = std::pair<std::string, std::string>;

}  // namespace

Result<CaseAttempts> attempts_by_case(ResultStore& store, const std::vector<Case>& cases,
                                      const std::vector<Attempt>& attempts) {
  std::set<CaseId> ids;
  std::map<KeyAndDevice, std::set<CaseId>> alike;
  for (const auto& cell : cases) {
    const auto id = case_id_from(cell);
    ids.insert(id);
    alike[{id.case_key, id.device}].insert(id);
  }
  SubjectReader subjects(store);
  CaseAttempts found;
  for (const auto& attempt : attempts) {
    ASSAY_ASSIGN_OR_RETURN(const auto id, subjects.case_id_of(attempt));
    const auto& same_device = alike[{id.case_key, id.device}];
    if (ids.contains(id)) {
      found[id].push_back(attempt);
    } else if (same_device.size() == 1) {
      found[*same_device.begin()].push_back(attempt);
    }
  }
  return found;
}

std::map<Pass, Attempt> counting_attempts(const std::vector<Attempt>& attempts) {
  std::map<Pass, Attempt> counting;
  for (const auto& attempt : attempts) {
    const auto [known, is_new] = counting.try_emplace(attempt.pass, attempt);
    const auto& other = known->second;
    const bool gives_way = other.is_finished && !attempt.is_finished &&
                           other.subject == attempt.subject && other.n == attempt.n;
    if (!is_new && !gives_way) {
      known->second = attempt;
    }
  }
  return counting;
}

Result<bool> is_run_complete(ResultStore& store, std::string_view run) {
  ASSAY_ASSIGN_OR_RETURN(const auto cases, store.cases_of_run(run));
  ASSAY_ASSIGN_OR_RETURN(const auto attempts, store.attempts_of_run(run));
  ASSAY_ASSIGN_OR_RETURN(auto own, attempts_by_case(store, cases, attempts));
  return std::ranges::all_of(cases, [&own](const Case& cell) {
    const auto counting = counting_attempts(own[case_id_from(cell)]);
    return !counting.empty() &&
           std::ranges::all_of(counting, [](const auto& one) { return one.second.is_finished; });
  });
}

}  // namespace assay
