#include "assay/campaign/case_launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace assay {
namespace {

using testing::ElementsAre;

TEST(CaseOrder, GivesLibrariesToTheirEngine) {
  const std::vector<std::string> given{"/all.so", "executorch=/own.so", "folder/a=b.so",
                                       "openvino=other.so"};
  EXPECT_THAT(libraries_of_engine(given, "executorch"),
              ElementsAre("/all.so", "/own.so", "folder/a=b.so"));
  EXPECT_THAT(libraries_of_engine(given, "torch"), ElementsAre("/all.so", "folder/a=b.so"));
}

}  // namespace
}  // namespace assay
