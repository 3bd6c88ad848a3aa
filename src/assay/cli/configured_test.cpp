#include "assay/cli/configured.h"

#include "features/register_features.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/labels.h"
#include "assay/cli/quick_spec.h"
#include "assay/cli/verb.h"
#include "assay/config/config_key.h"
#include "assay/config/configuration.h"
#include "assay/report/writer.h"

namespace assay::cli {
namespace {

using testing::ElementsAre;
using testing::Pair;

/// Uses values of a user's file for a test, and none afterwards.
class ConfiguredValues : public testing::Test {
 protected:
  static void use(const Json& values) {
    Configuration given;
    for (const auto& [key, value] : values.items()) {
      given.set(key, {.value = value, .place = "config.json"});
    }
    use_configuration(given);
  }
  void TearDown() override { use_configuration({}); }
};

/// All verbs, as main declares them.
struct AllVerbs {
  AllVerbs() {
    for (const auto& verb : all_verbs()) {
      executes.push_back(verb.declare(*app.add_subcommand(verb.name, verb.help)));
    }
  }
  CLI::App app;
  std::vector<Execute> executes;  // They own the options.
};

TEST_F(ConfiguredValues, AreAcceptedByTheFlagsOfTheTable) {
  AllVerbs all;
  use({{"threads", 1024},
       {"launches", 1000},
       {"min_effect", 99},
       {"root", "/r"},
       {"mirrors", {"http://a/=/b", "http://c/=/d"}},
       {"format", "md"},
       {"builds_limit", "2GB"}});
  const auto status = set_configured_defaults(all.app);
  ASSERT_TRUE(status) << status.error().message;
  for (const auto& key : config_keys()) {
    if (!key.verbs.empty()) {
      EXPECT_NE(configuration().find(key.name), nullptr) << key.name << " is not tried here";
    }
  }
  EXPECT_EQ(all.app.get_subcommand("compare")->get_option("--min-effect")->get_default_str(), "99");
}

TEST_F(ConfiguredValues, GiveWayToAFlag) {
  use({{"launches", 7}, {"threads", 3}});
  for (const auto& [line, launches, threads] : std::vector<std::tuple<std::string, int, Json>>{
           {"bench net.fake.json", 7, {3}},
           {"bench net.fake.json --launches 2", 2, {3}},
           {"bench net.fake.json --threads 1,2", 7, {1, 2}},
           {"bench net.fake.json --option threads=5", 7, {5}}}) {
    CLI::App app;
    QuickSpec quick;
    auto* bench = app.add_subcommand("bench");
    QuickSpec other;  // The other verbs of the table.
    for (const auto* name : {"eval", "compare", "profile"}) {
      other.declare_model(*app.add_subcommand(name));
    }
    other.declare_timing(*app.get_subcommand("profile"));
    quick.declare_model(*bench);
    quick.declare_timing(*bench);
    ASSERT_TRUE(set_configured_defaults(app));
    app.parse(line);
    const auto document = quick.document({"timing"}).value();
    EXPECT_EQ(document["measure"]["launches"], launches) << line;
    EXPECT_EQ(document["options"]["threads"], threads) << line;
  }
}

TEST_F(ConfiguredValues, NameTheDeviceUnlessALabelDoes) {
  Labels labels = {{"commit", "abc"}};
  add_configured_device(labels);
  EXPECT_THAT(labels, ElementsAre(Pair("commit", "abc")));
  use({{"device_name", "lab-3"}});
  add_configured_device(labels);
  EXPECT_THAT(labels, ElementsAre(Pair("commit", "abc"), Pair("device", "lab-3")));
  Labels given = {{"device", "mine"}};
  add_configured_device(given);
  EXPECT_THAT(given, ElementsAre(Pair("device", "mine")));
}

TEST_F(ConfiguredValues, PlaceTheStoreUnlessAFlagDoes) {
  use({{"store", "/srv/results.db"}});
  EXPECT_EQ(StoreFlags().address(), "/srv/results.db");
  EXPECT_EQ(StoreFlags{.path = "here.db"}.address(), "here.db");
  use({{"store", "postgresql://lab@db/results"}});
  EXPECT_EQ(StoreFlags().address(), "postgresql://lab@db/results");
}

TEST_F(ConfiguredValues, LimitBuildsWhereTheRepositoryFileDoesNot) {
  const auto folder = TemporaryFolder::make("assay-configured").value();
  const auto file = folder.path() / "toy.json";
  Json document = {{"schema", "assay/repository/1"},
                   {"repository", {{"url", "/toy"}}},
                   {"engine", "toy"},
                   {"environments", {{"default", {{"outputs", {{"bench", "bench"}}}}}}}};
  use({{"builds_limit", "2MB"}});
  ASSERT_TRUE(write_file_atomically(file, document.dump()));
  EXPECT_EQ(read_configured_repository(file)->policy.keep_builds_bytes, 2'000'000);
  document["policy"] = {{"keep_builds", "3MB"}};
  ASSERT_TRUE(write_file_atomically(file, document.dump()));
  EXPECT_EQ(read_configured_repository(file)->policy.keep_builds_bytes, 3'000'000);
}

TEST(ConfiguredFormat, IsOneOfTheReportFormats) {
  register_features();
  std::vector<std::string> formats;
  std::ranges::transform(report_formats(), std::back_inserter(formats),
                         [](const ReportFormat& format) { return std::string(format.name); });
  const auto& choices = get_config_key("format").value()->choices;
  EXPECT_THAT(std::vector<std::string>(choices.begin(), choices.end()),
              testing::UnorderedElementsAreArray(formats));
}

}  // namespace
}  // namespace assay::cli
