#include "assay/store/case_attempts.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
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

}  // namespace assay
