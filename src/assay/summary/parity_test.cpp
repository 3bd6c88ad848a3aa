#include "assay/summary/parity.h"

#include <cmath>
#include <ctime>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/record/summary.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

CaseSummary case_of(const std::string& generator, Accuracy accuracy, double sqnr_db) {
  CaseSummary cell{.engine = "openvino@1"};
  cell.identity = {{"model", {{"ref", "net"}}}, {"inputs", {{"generator", generator}}}};
  cell.accuracy_tables = {
      {.against = "float32",
       .accuracy = accuracy,
       .outputs = {{.output = "0",
                    .metrics = {{"sqnr_db", make_metric("sqnr_db", sqnr_db, "output:0")}}}}}};
  return cell;
}

std::vector<std::string> warnings_of(const CaseSummary& random, const CaseSummary& real) {
  std::vector<CaseSummary> cases = {random, real};
  compare_inputs(cases);
  EXPECT_EQ(cases[0].warnings, cases[1].warnings);
  return cases[1].warnings;
}

TEST(Parity, WarnsWhereRandomInputsPassAndRealOnesFail) {
  EXPECT_THAT(warnings_of(case_of("normal", Accuracy::kPass, 30),
                          case_of("file", Accuracy::kFailNumeric, 28)),
              ElementsAre("random inputs hide what real ones show, against float32: pass (30 dB) "
                          "on random inputs, fail numeric (28 dB) on real ones"));
  EXPECT_THAT(
      warnings_of(case_of("normal", Accuracy::kVacuous, 30), case_of("file", Accuracy::kPass, 28)),
      ElementsAre(HasSubstr("disagree against float32: vacuous")));
}

TEST(Parity, WarnsFromOneBitOfPrecisionOn) {
  const auto random = case_of("normal", Accuracy::kPass, 30);
  EXPECT_THAT(warnings_of(random, case_of("file", Accuracy::kPass, 24)), IsEmpty());
  EXPECT_THAT(warnings_of(random, case_of("file", Accuracy::kPass, 23.9)),
              ElementsAre(HasSubstr("differ by more than 6.02 dB against float32")));
  EXPECT_THAT(warnings_of(random, case_of("file", Accuracy::kPass, 36.1)),
              ElementsAre(HasSubstr("differ by more than")));
}

TEST(Parity, LeavesRoundingAlone) {
  const auto exact = case_of("normal", Accuracy::kPass, HUGE_VAL);
  EXPECT_THAT(warnings_of(exact, case_of("file", Accuracy::kPass, 95)), IsEmpty());
  EXPECT_THAT(warnings_of(exact, case_of("file", Accuracy::kPass, 70)),
              ElementsAre(HasSubstr("differ by more than")));
  EXPECT_THAT(warnings_of(exact, case_of("file", Accuracy::kPass, std::nan(""))),
              ElementsAre(HasSubstr("differ by more than")));
}

TEST(Parity, LooksAtNoPairOfCasesInVain) {
  const auto seconds = [](int count) {
    std::vector<CaseSummary> cases;
    for (int i = 0; i < count; ++i) {
      for (const auto* generator : {"random", "file"}) {
        CaseSummary cell;
        cell.identity = {
            {"inputs", {{"generator", generator}}}, {"model", std::string(300, 'x')}, {"seed", i}};
        cases.push_back(std::move(cell));
      }
    }
    const auto start = std::clock();
    compare_inputs(cases);
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  EXPECT_LT(seconds(400), 20 * (seconds(50) + 0.01));
}

TEST(Parity, ComparesOnlyWhatIsOtherwiseTheSame) {
  const auto random = case_of("normal", Accuracy::kPass, 30);
  auto real = case_of("file", Accuracy::kFailNumeric, 3);
  real.engine = "onnxruntime@1";
  EXPECT_THAT(warnings_of(random, real), IsEmpty());
  real.engine = random.engine;
  real.identity["options"] = {{"threads", 2}};
  EXPECT_THAT(warnings_of(random, real), IsEmpty());
  auto timed = case_of("file", Accuracy::kFailNumeric, 3);
  timed.identity["scenario"] = {{"gap_ns", 5}};
  EXPECT_THAT(warnings_of(random, timed), testing::SizeIs(1));
}

}  // namespace
}  // namespace assay
