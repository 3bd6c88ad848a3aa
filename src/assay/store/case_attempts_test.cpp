#include "assay/store/case_attempts.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "assay/record/case.h"
#include "assay/record/case_id.h"
#include "assay/record/run.h"
#include "assay/record/subject.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

Case on(const std::string& build, const std::string& device = "local") {
  return {.model = {.ref = "net.pte"}, .engine = "toy", .engine_build = build, .device = device};
}

class AttemptsByCase : public testing::Test {
 protected:
  Attempt attempt_at(const Case& cell) {
    const Subject subject{.engine_build = cell.engine_build};
    EXPECT_TRUE(store_->add_subject(subject));
    return {.case_key = case_key(cell), .subject = subject_key(subject), .device = cell.device};
  }

  std::unique_ptr<ResultStore> store_ = make_memory_store();
};

TEST_F(AttemptsByCase, KeepBuildsAndDevicesApart) {
  const std::vector<Case> cases = {on("toy@1"), on("toy@2"), on("toy@1", "pi5")};
  const auto found =
      attempts_by_case(*store_, cases, {attempt_at(cases[0]), attempt_at(cases[2])}).value();
  EXPECT_EQ(found.at(case_id_from(cases[0])).size(), 1U);
  EXPECT_FALSE(found.contains(case_id_from(cases[1]))) << "it has not run";
  EXPECT_EQ(found.at(case_id_from(cases[2])).front().device, "pi5");
}

TEST_F(AttemptsByCase, TakeAnAttemptWithoutABuildForTheOnlyCase) {
  const std::vector<Case> cases = {on("toy@1")};
  auto attempt = attempt_at(cases[0]);
  attempt.subject.clear();
  const auto found = attempts_by_case(*store_, cases, {attempt}).value();
  EXPECT_EQ(found.at(case_id_from(cases[0])).size(), 1U);
  EXPECT_TRUE(attempts_by_case(*store_, {on("toy@1"), on("toy@2")}, {attempt})->empty());
}

}  // namespace
}  // namespace assay
