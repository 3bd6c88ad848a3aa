#include "assay/cli/words_of_flags.h"

#include <gtest/gtest.h>
#include <string>

#include "assay/cli/quick_spec.h"
#include "assay/spec/spec.h"

namespace assay::cli {
namespace {

TEST(WordsOfFlags, AreThoseThatWereTyped) {
  EXPECT_EQ(flag_from_spec_path("models[0].ref"), "model");
  EXPECT_EQ(flag_from_spec_path("models[1]"), "model");
  EXPECT_EQ(flag_from_spec_path("models[0].inputs"), "--inputs");
  EXPECT_EQ(flag_from_spec_path("models[0].inputs[0][1]"), "--input-shape");
  EXPECT_EQ(flag_from_spec_path("models[0].dimensions.batch"), "--dimension batch");
  EXPECT_EQ(flag_from_spec_path("recipes[2]"), "--recipe");
  EXPECT_EQ(flag_from_spec_path("options.load_mode[0]"), "--option load_mode");
  EXPECT_EQ(flag_from_spec_path("scenario.gap[0]"), "--scenario gap");
  EXPECT_EQ(flag_from_spec_path("require.qdq.sqnr_db"), "--require qdq.sqnr_db");
  EXPECT_EQ(flag_from_spec_path("measure.time_budget"), "--time-budget");
  EXPECT_EQ(flag_from_spec_path("evaluate.against[0]"), "--against");
  EXPECT_EQ(flag_from_spec_path("seed"), "--seed");
}

TEST(WordsOfFlags, StandInEachLineAboutASpecOfFlags) {
  const QuickSpec quick{.model = "net.onnx", .require = {"steady_ns<=1"}, .time_budget = "5"};
  const auto spec = spec_from_json(quick.document({"timing"}).value(), {.origin = "assay bench"});
  EXPECT_EQ(in_words_of_flags(spec.error().message, "assay bench"),
            "assay bench: --time-budget: '5' is not a duration; write a number and a unit (ns, us, "
            "ms, s, min, h, d), such as 20s\n"
            "assay bench: --require steady_ns: '<=1' lacks the unit of its value; write one behind "
            "the number, such as \"<=12ms\"");
}

TEST(WordsOfFlags, LeaveOtherMessagesAlone) {
  for (const std::string text :
       {"specs/net.json: measure.time_budget: '5' is not a duration",
        "assay bench: net.pte: absent", "assay bench: no model: none", "measure.launches: 3", ""}) {
    EXPECT_EQ(in_words_of_flags(text, "assay bench"), text);
  }
}

}  // namespace
}  // namespace assay::cli
