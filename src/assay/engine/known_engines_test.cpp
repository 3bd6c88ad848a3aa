#include "assay/engine/known_engines.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::HasSubstr;

TEST(KnownEngines, AllSayHowToGetThem) {
  ASSERT_FALSE(known_engines().empty());
  for (const auto& engine : known_engines()) {
    EXPECT_THAT(engine.how_to_get, HasSubstr("its runner was not")) << engine.name;
  }
}

TEST(KnownEngines, KnowWhichOfThemStartAnInterpreter) {
  EXPECT_TRUE(is_known_in_python("onnxruntime"));
  EXPECT_FALSE(is_known_in_python("executorch"));
  EXPECT_FALSE(is_known_in_python("nothing"));
}

}  // namespace
}  // namespace assay
