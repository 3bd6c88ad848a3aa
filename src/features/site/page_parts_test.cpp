#include "features/site/page_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/record/summary.h"

namespace assay::site {
namespace {

using testing::HasSubstr;

TEST(PageParts, ShowAccuracyAgainstFloatWhereItWasMeasured) {
  CaseSummary cell;
  EXPECT_TRUE(accuracy_text(cell).is_empty());
  cell.metrics["qdq.sqnr_db"] = {.value = 90, .count = 1};
  EXPECT_THAT(accuracy_text(cell).html(), HasSubstr("SQNR against qdq"));
  cell.metrics["sqnr_db"] = {.value = 30, .count = 1};
  EXPECT_THAT(accuracy_text(cell).html(), HasSubstr("SQNR against float32"));
  EXPECT_THAT(accuracy_text(cell).html(), HasSubstr("30"));
}

}  // namespace
}  // namespace assay::site
