#include "features/site/index_rows.h"
#include "features/site/page.h"
#include "features/site/pages.h"
#include "features/site/run_index.h"
#include "features/site/testing/site_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <initializer_list>
#include <string>

namespace assay::site {
namespace {

using testing::HasSubstr;
using testing::Not;

class ConformancePage : public SiteTest {
 protected:
  /// The page of a recipe that each of the devices ran one case of.
  [[nodiscard]] std::string page_of(const std::initializer_list<std::string>& devices) const {
    auto index = RunIndex::open(file("index.db")).value();
    for (const auto& device : devices) {
      EXPECT_TRUE(index.put({.run = {.id = device},
                             .conformance = {{.run = device,
                                              .suite = "operators",
                                              .recipe = "net/fp32",
                                              .engine = "net@1",
                                              .device = device,
                                              .device_class = "arm:board",
                                              .counts = {{"pass", 1}},
                                              .verdicts = {{"add/0", "pass"}},
                                              .operators = {{"add/0", "add"}}}}},
                            "stamp"));
    }
    const auto page =
        make_conformance_page({.index = index, .open_store = {}}, {.path = "conformance.html"}, "");
    EXPECT_TRUE(page) << page.error().message;
    return page ? page->body : "";
  }
};

TEST_F(ConformancePage, NamesTheDeviceWhereTheSettingsHaveSeveral) {
  EXPECT_THAT(page_of({"pi4"}), Not(HasSubstr("net/fp32 net@1 on")));
  const auto page = page_of({"pi4", "pi5"});
  for (const auto* device : {"pi4", "pi5"}) {
    const std::string title = std::string(device) + " (arm:board)";
    EXPECT_THAT(page, HasSubstr(R"("setting":"net/fp32 net@1 on )" + title)) << "a bar of its own";
    EXPECT_THAT(page,
                HasSubstr(R"(<span class="detail">net@1</span><span class="detail">)" + title));
  }
}

}  // namespace
}  // namespace assay::site
