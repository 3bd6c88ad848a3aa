#include "features/history/report/text.h"

#include <gtest/gtest.h>

namespace assay::report {
namespace {

TEST(HistoryText, CutsHashesAndNoOtherNameOfACommit) {
  EXPECT_EQ(short_commit("0123456789abcdef0123"), "0123456789");
  EXPECT_EQ(short_commit("nightly-2026-01-01-07"), "nightly-2026-01-01-07");
  EXPECT_EQ(short_commit("2026-01-11T04:00"), "2026-01-11T04:00");
  EXPECT_EQ(short_commit("v2.5.0-rc10"), "v2.5.0-rc10");
}

}  // namespace
}  // namespace assay::report
