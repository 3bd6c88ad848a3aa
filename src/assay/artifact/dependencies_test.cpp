#include "assay/artifact/dependencies.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>
#include <stdlib.h>
#include <string>
#include <thread>
#include <vector>

#include <sys/stat.h>

#include "assay/artifact/cache.h"
#include "assay/base/claims.h"
#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"

namespace assay {
namespace {

using testing::HasSubstr;
using testing::Optional;

namespace stdfs = std::filesystem;

/// A project of some files, and what a job that read them all records.
class Dependencies : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& name : names_) {
      write(name, "content of " + name);
    }
    scope_.folders = {project_.path().string()};
    scope_.work_folder = (project_.path() / "work").string();
  }

  void write(const std::string& name, const std::string& content) const {
    ASSERT_TRUE(write_file_atomically(project_.path() / name, content).has_value());
  }

  [[nodiscard]] static Json file_entry(const stdfs::path& path, const std::string& name) {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return {{"path", name},
            {"bytes", status.st_size},
            {"inode", status.st_ino},
            {"changed_ns", status.st_ctim.tv_sec * 1'000'000'000 + status.st_ctim.tv_nsec},
            {"sha256", sha256_hex_of_file(path).value()}};
  }

  /// As the toolchain writes it: one path relative to the current folder, the others absolute.
  [[nodiscard]] Json recorded() const {
    Json files = Json::array();
    for (const auto& name : names_) {
      const auto path = project_.path() / name;
      files.push_back(file_entry(path, name == "work/w.pt" ? "w.pt" : path.string()));
    }
    return {{"schema", "assay/dependencies/1"},
            {"recorded_ns", 0},
            {"files", files},
            {"folders", Json::array()},
            {"installed", Json::array()},
            {"variables", Json::array()}};
  }

  [[nodiscard]] Json kept() const { return dependencies_in_scope(recorded(), scope_).value(); }

  std::vector<std::string> names_ = {"net.py", "util.py", "lib/layers.py", "work/w.pt"};
  TemporaryFolder project_ = TemporaryFolder::make("assay-project").value();
  DependencyScope scope_;
};

TEST_F(Dependencies, OfAnUnchangedTreeHold) {
  EXPECT_EQ(find_change(kept(), scope_), std::nullopt);
}

TEST_F(Dependencies, AnEditOfAnyFileThatWasReadIsSeen) {
  const auto dependencies = kept();
  std::mt19937 random(7);
  std::ranges::shuffle(names_, random);
  for (const auto& name : names_) {
    const auto before = read_file(project_.path() / name).value();
    for (const auto& after : {before + "x", std::string(before.rbegin(), before.rend())}) {
      write(name, after);
      EXPECT_THAT(find_change(dependencies, scope_), Optional(HasSubstr(name + "' changed")));
    }
    stdfs::remove(project_.path() / name);
    EXPECT_THAT(find_change(dependencies, scope_), Optional(HasSubstr(name + "' is gone")));
    write(name, before);
    EXPECT_EQ(find_change(dependencies, scope_), std::nullopt) << "its content is back";
  }
}

TEST_F(Dependencies, AFileThatNothingTouchedIsNotReadAgain) {
  auto dependencies = kept();
  dependencies["files"][0]["sha256"] = std::string(64, '0');
  EXPECT_THAT(find_change(dependencies, scope_), Optional(HasSubstr("changed")))
      << "it may have changed in the tick in which it was recorded";
  dependencies["recorded_ns"] = std::chrono::nanoseconds(std::chrono::years(250)).count();
  EXPECT_EQ(find_change(dependencies, scope_), std::nullopt);
}

TEST_F(Dependencies, AFileThatWasLookedForInVainIsSeenWhenItComes) {
  auto document = recorded();
  document["files"].push_back(
      {{"path", (project_.path() / "local.py").string()}, {"bytes", nullptr}, {"sha256", nullptr}});
  const auto dependencies = dependencies_in_scope(document, scope_).value();
  EXPECT_EQ(find_change(dependencies, scope_), std::nullopt);
  write("local.py", "SCALE = 3");
  EXPECT_THAT(find_change(dependencies, scope_), Optional(HasSubstr("local.py' is new")));
}

TEST_F(Dependencies, AFileWhoseNameIsNoUtf8IsKeptAndFollowed) {
  const std::string name = "data/caf\xe9.txt";
  stdfs::create_directory(project_.path() / "data");
  write(name, "before");
  std::string digits;
  for (const char byte : (project_.path() / name).string()) {
    digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  auto document = recorded();
  document["files"] = {file_entry(project_.path() / name, "")};
  document["files"][0].erase("path");
  document["files"][0]["path_hex"] = digits;
  const auto dependencies = dependencies_in_scope(document, scope_).value();
  EXPECT_EQ(dependencies["files"][0]["path_hex"], "646174612f636166e92e747874");
  EXPECT_EQ(dependencies["files"][0]["at"], 0);
  EXPECT_NO_THROW(static_cast<void>(dependencies.dump()));
  EXPECT_EQ(find_change(dependencies, scope_), std::nullopt);
  write(name, "later!");
  EXPECT_THAT(find_change(dependencies, scope_), Optional(HasSubstr("caf\uFFFD.txt' changed")));
  auto other = dependencies;
  other["files"][0]["path_hex"] = "646174612f636166e82e747874";
  EXPECT_NE(digest_of_dependencies(other), digest_of_dependencies(dependencies));
}

TEST_F(Dependencies, AreKeptInAFolderWhoseNameIsNoUtf8) {
  scope_.work_folder = "/caf\xe9";
  EXPECT_NO_THROW(static_cast<void>(kept().dump()));
  auto other = scope_;
  other.work_folder = "/caf\xe8";
  auto document = recorded();
  document["files"] = {file_entry("/bin/sh", "/bin/sh")};
  const auto dependencies = dependencies_in_scope(document, scope_).value();
  EXPECT_EQ(find_change(dependencies, scope_), std::nullopt);
  EXPECT_THAT(find_change(dependencies, other), Optional(HasSubstr("another folder")));
}

TEST_F(Dependencies, AListedFolderChangesWithItsNames) {
  auto document = recorded();
  document["folders"].push_back({{"path", project_.path().string()}, {"sha256", ""}});
  std::string listing;
  for (const auto* name : {"lib", "net.py", "util.py", "work"}) {
    listing.append(name).append("\n");
  }
  document["folders"][0]["sha256"] = sha256_hex(listing);
  const auto dependencies = dependencies_in_scope(document, scope_).value();
  EXPECT_EQ(find_change(dependencies, scope_), std::nullopt);
  stdfs::create_directory(project_.path() / "__pycache__");
  EXPECT_EQ(find_change(dependencies, scope_), std::nullopt) << "importing makes it";
  write("epoch2.pt", "");
  EXPECT_THAT(find_change(dependencies, scope_), Optional(HasSubstr("has other files")));
}

TEST_F(Dependencies, AVariableIsSeenOutsideOfASandbox) {
  auto document = recorded();
  document["variables"].push_back({{"name", "ASSAY_TEST_SCALE"}, {"sha256", sha256_hex("1")}});
  const auto dependencies = dependencies_in_scope(document, scope_).value();
  ::setenv("ASSAY_TEST_SCALE", "1", 1);
  EXPECT_EQ(find_change(dependencies, scope_), std::nullopt);
  auto boxed = scope_;
  boxed.is_boxed = true;
  EXPECT_THAT(find_change(dependencies, boxed), Optional(HasSubstr("sandbox")));
  ::setenv("ASSAY_TEST_SCALE", "3", 1);
  EXPECT_THAT(find_change(dependencies, scope_), Optional(HasSubstr("ASSAY_TEST_SCALE changed")));
  ::unsetenv("ASSAY_TEST_SCALE");
  EXPECT_THAT(find_change(dependencies, scope_), Optional(HasSubstr("ASSAY_TEST_SCALE changed")));
}

TEST_F(Dependencies, AVariableThatIsSetNowhereIsNoneOfASandboxEither) {
  auto document = recorded();
  document["variables"].push_back({{"name", "ASSAY_TEST_SCALE"}, {"sha256", nullptr}});
  const auto dependencies = dependencies_in_scope(document, scope_).value();
  auto boxed = scope_;
  boxed.is_boxed = true;
  EXPECT_EQ(find_change(dependencies, boxed), std::nullopt);
  ::setenv("ASSAY_TEST_SCALE", "1", 1);
  EXPECT_THAT(find_change(dependencies, boxed), Optional(HasSubstr("sandbox")));
  ::unsetenv("ASSAY_TEST_SCALE");
}

TEST_F(Dependencies, AProjectThatWasMovedFindsItsEntries) {
  const auto dependencies = kept();
  const auto other = TemporaryFolder::make("assay-project").value();
  stdfs::copy(project_.path(), other.path(), stdfs::copy_options::recursive);
  DependencyScope moved{.folders = {other.path().string()},
                        .work_folder = (other.path() / "work").string()};
  EXPECT_EQ(find_change(dependencies, moved), std::nullopt);
  ASSERT_TRUE(write_file_atomically(other.path() / "util.py", "other"));
  EXPECT_THAT(find_change(dependencies, moved), Optional(HasSubstr("util.py' changed")))
      << "two projects must not share a program";
  moved.work_folder = project_.path().string();
  EXPECT_NE(find_change(dependencies, moved), std::nullopt);
}

TEST_F(Dependencies, AFileOutsideOfTheProjectHoldsForThisPlaceOnly) {
  const auto shared = TemporaryFolder::make("assay-shared").value();
  ASSERT_TRUE(write_file_atomically(shared.path() / "w.pt", "w"));
  auto document = recorded();
  document["files"].push_back(
      file_entry(shared.path() / "w.pt", (shared.path() / "w.pt").string()));
  const auto dependencies = dependencies_in_scope(document, scope_).value();
  EXPECT_EQ(find_change(dependencies, scope_), std::nullopt);
  auto elsewhere = scope_;
  elsewhere.work_folder = "/";
  EXPECT_THAT(find_change(dependencies, elsewhere), Optional(HasSubstr("another folder")));
}

TEST_F(Dependencies, ThatAreNoDependenciesAreRefused) {
  for (const auto* text :
       {"[]", "{}", R"({"schema": "assay/dependencies/1", "recorded_ns": 0, "files": [1],
        "folders": [], "installed": [], "variables": []})"}) {
    EXPECT_FALSE(dependencies_in_scope(Json::parse(text), scope_).has_value()) << text;
    EXPECT_THAT(find_change(Json::parse(text), scope_), Optional(HasSubstr("damaged")));
  }
  auto dependencies = kept();
  dependencies["files"][0]["at"] = 99;
  EXPECT_THAT(find_change(dependencies, scope_), Optional(HasSubstr("damaged")));
}

/// A cache, and a toolchain that makes what the project says.
class CacheOfProject : public Dependencies {
 protected:
  [[nodiscard]] AdoptedEntry make(const std::string& program) const {
    const auto staging = cache_.make_staging_folder(kKey).value();
    const Json manifest = {
        {"entry", "program.pte"},
        {"files",
         {{{"name", "program.pte"}, {"bytes", program.size()}, {"sha256", sha256_hex(program)}}}}};
    EXPECT_TRUE(write_file_atomically(staging / "program.pte", program));
    EXPECT_TRUE(write_file_atomically(staging / "manifest.json", manifest.dump()));
    EXPECT_TRUE(write_file_atomically(staging / kDependencyFile, recorded().dump()));
    return cache_.adopt(kKey, staging, "manifest.json", scope_).value();
  }

  [[nodiscard]] std::string found() const {
    const auto artifact = cache_.find_artifact(kKey, scope_).value();
    return artifact ? read_file(stdfs::path(artifact->folder) / artifact->entry).value() : "";
  }

  static constexpr const char* kKey = "aa1";
  ArtifactCache cache_{project_.path() / "cache"};
};

TEST_F(CacheOfProject, AnEditIsAMissAndItsUndoingAHit) {
  EXPECT_EQ(cache_.find_change_since(kKey, scope_), std::nullopt);
  EXPECT_EQ(make("one").is_reproduced, std::nullopt);
  EXPECT_EQ(found(), "one");
  const auto before = read_file(project_.path() / "util.py").value();
  write("util.py", "SCALE = 3");
  EXPECT_EQ(found(), "");
  EXPECT_THAT(cache_.find_change_since(kKey, scope_), Optional(HasSubstr("util.py' changed")));
  EXPECT_EQ(make("three").is_reproduced, std::nullopt) << "it was made from something else";
  EXPECT_EQ(found(), "three");
  write("util.py", before);
  EXPECT_EQ(found(), "one");
}

TEST_F(CacheOfProject, ASecondBuildIsHeldAgainstTheFirst) {
  const auto first = make("one");
  const auto second = make("one");
  EXPECT_EQ(second.is_reproduced, true);
  EXPECT_EQ(second.folder, first.folder);
  EXPECT_EQ(make("two").is_reproduced, false);
  EXPECT_EQ(found(), "two");
}

TEST_F(CacheOfProject, AnEntryThatAnotherProcessUsesStaysAsItIs) {
  const auto first = make("one");
  const ArtifactCache other(cache_.folder());
  const auto used = other.find_artifact(kKey, scope_).value();
  ASSERT_TRUE(used.has_value());
  const auto second = make("two");
  EXPECT_EQ(second.is_reproduced, false);
  EXPECT_NE(second.folder, first.folder);
  EXPECT_EQ(read_file(stdfs::path(used->folder) / used->entry).value_or(""), "one");
  EXPECT_EQ(found(), "two") << "the newest counts";
}

TEST_F(CacheOfProject, ADamagedEntryIsReplaced) {
  const auto first = make("one");
  ASSERT_TRUE(write_file_atomically(first.folder / "program.pte", "two"));
  EXPECT_FALSE(cache_.find_artifact(kKey, scope_).has_value());
  EXPECT_EQ(make("one").folder, first.folder);
  EXPECT_EQ(found(), "one");
}

}  // namespace
}  // namespace assay
