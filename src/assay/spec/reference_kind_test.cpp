#include "assay/spec/reference_kind.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(ReferenceKind, IsANameOrAnEngine) {
  EXPECT_TRUE(is_reference_kind("float32"));
  EXPECT_TRUE(is_reference_kind("file"));
  EXPECT_TRUE(is_reference_kind("engine:onnxruntime"));
  EXPECT_FALSE(is_reference_kind("inputs"));
  EXPECT_FALSE(is_reference_kind("fp32"));
  for (const auto* const nameless : {"engine", "engine:", "engine:@1", "engine:x@"}) {
    EXPECT_FALSE(is_reference_kind(nameless)) << nameless;
  }
  EXPECT_EQ(engine_of_kind("engine:executorch@mine"), "executorch@mine");
  EXPECT_FALSE(engine_of_kind("float32"));
}

TEST(ReferenceKind, StandsBeforeAMetricWhateverDotsABuildHas) {
  EXPECT_EQ(without_reference_kind("qdq.sqnr_db"), "sqnr_db");
  EXPECT_EQ(without_reference_kind("engine:executorch@1.5.1.sqnr_db"), "sqnr_db");
  EXPECT_EQ(without_reference_kind("steady_ns"), "steady_ns");
  EXPECT_EQ(without_reference_kind("foo.sqnr_db"), "foo.sqnr_db");
}

TEST(ReferenceKind, OfAFileNeedsWhatHoldsOutputs) {
  EXPECT_FALSE(has_expected_outputs("", ""));
  EXPECT_FALSE(has_expected_outputs("x.npz", ""));
  EXPECT_FALSE(has_expected_outputs("data.py:samples", ""));
  EXPECT_TRUE(has_expected_outputs("x.npz", "y.npz"));
  EXPECT_TRUE(has_expected_outputs("net.bpte", ""));
  EXPECT_TRUE(has_expected_outputs("sets/v1.2", ""));
  Case cell{.inputs = {.generator = "file", .file = "net.bpte"}};
  EXPECT_TRUE(has_expected_outputs(cell));
  cell.inputs = {.generator = "normal"};
  EXPECT_FALSE(has_expected_outputs(cell));
}

}  // namespace
}  // namespace assay
