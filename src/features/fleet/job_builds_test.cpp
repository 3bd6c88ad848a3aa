#include "features/fleet/job_builds.h"

#include "features/fleet/artifact_store.h"
#include "features/repository/build_cache.h"
#include "features/repository/build_entry.h"
#include "features/repository/engine_registration.h"
#include "features/repository/runner_kind.h"

#include <cstdint>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/revision_build.h"
#include "assay/record/subject.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kRunner =
    "#!/bin/sh\necho '{\"name\": \"toy\", \"version\": \"1\", \"build_id\": \"b1\"}'\n";

class JobBuilds : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path home(const std::string& host) const {
    return folder_.path() / host;
  }

  /// An engine of the driver that was made from a commit: a runner, and a file that it reads.
  [[nodiscard]] EngineBuild make_build(const std::string& data, RunnerKind kind) const {
    const BuildCache cache(builds_folder(home("driver")));
    const auto staging = cache.make_staging("key").value();
    BuildEntry entry{.folder = cache.folder_of("key"),
                     .key = "key",
                     .engine = "toy",
                     .revision = "r",
                     .environment = "default",
                     .runner = kind,
                     .outcome = BuildOutcome::kBuilt,
                     .outputs = {{"runner", "bin/runner"}},
                     .output_digest = sha256_hex(data)};
    for (const auto& [name, content] :
         {std::pair<std::string, std::string>("bin/runner", kRunner), {"share/table", data}}) {
      EXPECT_TRUE(
          write_file_atomically(staging / name, content, name == "bin/runner" ? 0755 : 0644));
      entry.files.push_back({.name = name,
                             .role = "program",
                             .bytes = static_cast<std::int64_t>(content.size()),
                             .sha256 = sha256_hex(content)});
    }
    EXPECT_TRUE(write_build_document(entry, staging));
    EXPECT_TRUE(cache.adopt("key", staging));
    const EngineBuild build{.name = "toy",
                            .label = "0123456789ab",
                            .runner = entry.output("runner").string(),
                            .build_id = "b1"};
    EXPECT_TRUE(register_build(home("driver"), build));
    return build;
  }

  /// Sends a build as a fleet does: through the store and the text of a job.
  JobBuild send(const EngineBuild& build) {
    const auto found = find_job_build(build, home("driver")).value().value();
    std::set<std::string> known;
    EXPECT_TRUE(put_build(found, *store_, known));
    return job_build_from_json(json_from_job_build(found));
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-test").value();
  std::unique_ptr<ArtifactStore> store_ =
      open_artifact_store((folder_.path() / "store").string(), {}).value();
};

TEST_F(JobBuilds, BecomeEnginesOfTheHost) {
  const auto sent = send(make_build("a table", RunnerKind::kProgram));
  EXPECT_THAT(sent.executables, ElementsAre("bin/runner"));
  BroughtBuilds brought(home("host"));
  const auto build = brought.bring(sent, *store_);
  ASSERT_TRUE(build.has_value()) << build.error().message;
  EXPECT_EQ(build->reference(), "toy@0123456789ab");
  EXPECT_EQ(build->build_id, "b1");
  EXPECT_TRUE(build->runner.starts_with(home("host").string())) << build->runner;
  const auto table =
      std::filesystem::path(build->runner).parent_path().parent_path() / "share/table";
  EXPECT_EQ(read_file(table).value(), "a table");
  EXPECT_TRUE(get_build(find_installed_builds(home("host")), "toy@0123456789ab").has_value());
}

TEST_F(JobBuilds, AreFetchedOnceAndAgainWhereTheBytesDiffer) {
  BroughtBuilds brought(home("host"));
  const auto first = send(make_build("one", RunnerKind::kProgram));
  ASSERT_TRUE(brought.bring(first, *store_));
  std::filesystem::remove_all(folder_.path() / "store");
  EXPECT_TRUE(brought.bring(first, *store_)) << "nothing is asked of the store";
  std::filesystem::remove_all(home("driver"));
  const auto second = send(make_build("two", RunnerKind::kProgram));
  const auto build = brought.bring(second, *store_).value();
  const auto table =
      std::filesystem::path(build.runner).parent_path().parent_path() / "share/table";
  EXPECT_EQ(read_file(table).value(), "two");
}

TEST_F(JobBuilds, OfAnInstallationDoNotTravel) {
  const auto build = make_build("x", RunnerKind::kPrefix);
  EXPECT_FALSE(is_portable(find_entry_of(build, home("driver")).value().value()));
  BroughtBuilds brought(home("host"));
  const auto refused = brought.bring(send(build), *store_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("toy@0123456789ab"));
}

TEST_F(JobBuilds, ThatNameFilesElsewhereAreRefused) {
  auto document = json_from_job_build(send(make_build("x", RunnerKind::kProgram)));
  document["entry"]["files"][0]["name"] = "../../runner";
  EXPECT_THROW(job_build_from_json(document), std::invalid_argument);
  document["entry"]["files"][0]["name"] = "bin/runner";
  document["entry"]["key"] = "../key";
  EXPECT_THROW(job_build_from_json(document), std::invalid_argument);
}

TEST_F(JobBuilds, OfNoCommitAreTheDevices) {
  const EngineBuild build{.name = "fake", .label = "1", .runner = "/usr/bin/true"};
  EXPECT_FALSE(find_job_build(build, home("driver")).value().has_value());
  EXPECT_FALSE(find_job_build({.name = "fake", .label = "1"}, {}).value().has_value());
}

}  // namespace
}  // namespace assay
