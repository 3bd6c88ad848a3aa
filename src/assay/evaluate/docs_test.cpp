#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

#include "assay/base/enum_names.h"
#include "assay/base/fs.h"
#include "assay/record/metric.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

/// Text of one section of docs/reference/metrics.md, up to the next heading; empty if it is absent.
std::string section_of(const std::string& page, std::string_view metric) {
  const auto heading = fmt::format("\n### `{}`\n", metric);
  const auto begin = page.find(heading);
  if (begin == std::string::npos) {
    return {};
  }
  const auto end = page.find("\n#", begin + heading.size());
  return page.substr(begin, end - begin);
}

std::string metrics_page() {
  const auto page = read_file(ASSAY_DOCS_FOLDER "/metrics.md");
  EXPECT_TRUE(page) << page.error().message;
  return page.value_or(std::string());
}

TEST(MetricsPage, HasASectionWithUnitDirectionAndLevelForEveryMetric) {
  const auto page = metrics_page();
  for (const auto& definition : metric_definitions()) {
    const auto section = section_of(page, definition.name);
    ASSERT_FALSE(section.empty()) << "docs/reference/metrics.md has no section for "
                                  << definition.name;
    const auto unit = definition.unit.empty() ? "none" : definition.unit;
    EXPECT_THAT(section, HasSubstr(fmt::format("Unit {}, better {}, level {}, source: ", unit,
                                               name_of(definition.better), definition.level)))
        << definition.name;
    if (definition.version > 1) {
      EXPECT_THAT(section, HasSubstr(fmt::format("Version {};", definition.version)))
          << definition.name << ": say what changed";
    }
  }
}

TEST(MetricsPage, NamesNoMetricThatDoesNotExist) {
  const auto page = metrics_page();
  constexpr std::string_view kHeading = "\n### `";
  for (auto at = page.find(kHeading); at != std::string::npos; at = page.find(kHeading, at + 1)) {
    const auto begin = at + kHeading.size();
    const auto name = page.substr(begin, page.find('`', begin) - begin);
    EXPECT_NE(find_metric(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace assay
