#include "features/repository/mirror.h"

#include "features/repository/build_key.h"
#include "features/repository/path_filter.h"
#include "features/repository/repository_spec.h"
#include "features/repository/testing/scratch_repository.h"
#include "features/repository/version_control.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/record/repository.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class GitMirrorTest : public testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Mirror> mirror() const {
    return make_mirror(spec_, scratch_.home() / "mirror");
  }
  [[nodiscard]] std::vector<std::string> subjects_of(const RevisionRange& range) const {
    std::vector<std::string> subjects;
    const auto revisions = mirror()->log(range).value();
    for (const auto& revision : revisions) {
      subjects.push_back(revision.subject);
    }
    return subjects;
  }

  ScratchRepository scratch_;
  RepositorySpec spec_ = scratch_.spec({});
};

std::vector<std::string> packs_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".pack") {
      names.push_back(entry.path().filename().string());
    }
  }
  return names;
}

TEST_F(GitMirrorTest, ListsTheBranchByFirstParents) {
  const auto root = scratch_.commit_file("a", "1");
  scratch_.git({"checkout", "--quiet", "-b", "side"});
  const auto side = scratch_.commit_file("b", "1");
  scratch_.git({"checkout", "--quiet", "main"});
  const auto second = scratch_.commit_file("a", "2");
  scratch_.git({"merge", "--quiet", "--no-ff", "-m", "merge\tside \xc3\x85", "side"});
  const auto update = mirror()->update();
  ASSERT_TRUE(update.has_value()) << update.error().message;
  EXPECT_THAT(update->rewritten, IsEmpty());
  const auto log = mirror()->log({.tip = update->tip}).value();
  ASSERT_EQ(log.size(), 3U);
  EXPECT_EQ(log[0].hash, update->tip);
  EXPECT_EQ(log[0].subject, "merge\tside \xc3\x85");
  EXPECT_EQ(log[0].author, "Ann");
  EXPECT_EQ(log[0].position, 3);
  EXPECT_THAT(log[0].parents, ElementsAre(second, side));
  EXPECT_GT(log[0].committed_unix_ns, 1'000'000'000'000'000'000);
  EXPECT_EQ(log[2].hash, root);
  EXPECT_EQ(log[2].position, 1);
  EXPECT_THAT(log[2].parents, IsEmpty());
  EXPECT_EQ(log[2].repository, spec_.repository.id());

  EXPECT_THAT(subjects_of({.tip = update->tip, .since = second}),
              ElementsAre("merge\tside \xc3\x85"));
  EXPECT_THAT(subjects_of({.tip = update->tip, .limit = 2}),
              ElementsAre("merge\tside \xc3\x85", "change a"));
  spec_.follows_first_parents = false;
  const auto all = mirror()->log({.tip = update->tip}).value();
  ASSERT_EQ(all.size(), 4U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].position, 4 - static_cast<std::int64_t>(i)) << "one line, parents first";
  }
  const auto since = mirror()->log({.tip = update->tip, .since = second}).value();
  ASSERT_EQ(since.size(), 2U);
  EXPECT_EQ(since[0].position, 4);
}

TEST_F(GitMirrorTest, ResolvesNames) {
  const auto first = scratch_.commit_file("a", "1");
  const auto second = scratch_.commit_file("a", "2");
  scratch_.git({"tag", "v1", first});
  ASSERT_TRUE(mirror()->update());
  for (const auto& name : {second.substr(0, 7), std::string("main"), std::string("HEAD"),
                           std::string("origin/main")}) {
    EXPECT_EQ(mirror()->resolve(name).value(), second) << name;
  }
  for (const auto& name : {first, std::string("v1"), std::string("HEAD~1")}) {
    EXPECT_EQ(mirror()->resolve(name).value(), first) << name;
  }
  for (const char* name : {"nope", "--all", "v1..main", ""}) {
    EXPECT_EQ(mirror()->resolve(name).error().code, ErrorCode::kNotFound) << name;
  }
  const auto opened = mirror();
  const auto range = revisions_from_names(*opened, {"v1..HEAD", second}).value();
  ASSERT_EQ(range.size(), 1U) << "a name twice counts once";
  EXPECT_EQ(range[0].hash, second);
  EXPECT_EQ(revisions_from_names(*opened, {"HEAD..v1"}).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(GitMirrorTest, KeepsWhatAForcedPushTookAway) {
  const auto root = scratch_.commit_file("a", "1");
  const auto lost = scratch_.commit_file("a", "2");
  ASSERT_EQ(mirror()->update()->tip, lost);
  scratch_.git({"reset", "--quiet", "--hard", root});
  const auto other = scratch_.commit_file("a", "3");
  const auto update = mirror()->update();
  ASSERT_TRUE(update.has_value()) << update.error().message;
  EXPECT_EQ(update->tip, other);
  EXPECT_THAT(update->rewritten, ElementsAre("main"));
  EXPECT_EQ(mirror()->resolve(lost).value(), lost);
  EXPECT_EQ(mirror()->log({.tip = lost}).value().size(), 2U);
  EXPECT_THAT(mirror()->update()->rewritten, IsEmpty()) << "it is told once";
}

TEST_F(GitMirrorTest, DigestsTheFilesThatMatter) {
  scratch_.write("src/a.cpp", "int a;");
  scratch_.write("README.md", "text");
  const auto first = scratch_.commit("first");
  const auto documents = scratch_.commit_file("README.md", "another text");
  const auto changed = scratch_.commit_file("src/a.cpp", "int b;");
  const auto reverted = scratch_.commit_file("src/a.cpp", "int a;");
  ASSERT_TRUE(mirror()->update());
  for (const PathFilter& paths :
       {PathFilter{.include = {"src"}}, PathFilter{.exclude = {"*.md"}}}) {
    const auto digest = [&](const std::string& revision) {
      return mirror()->content_digest(revision, paths).value();
    };
    EXPECT_EQ(digest(first), digest(documents));
    EXPECT_NE(digest(first), digest(changed));
    EXPECT_EQ(digest(first), digest(reverted));
  }
  EXPECT_NE(mirror()->content_digest(first, {}).value(),
            mirror()->content_digest(documents, {}).value());
  EXPECT_THAT(mirror()->changed_files(changed).value(), ElementsAre("src/a.cpp"));
  EXPECT_THAT(mirror()->changed_files(first).value(),
              UnorderedElementsAre("src/a.cpp", "README.md"));
}

TEST_F(GitMirrorTest, ChecksOutExactlyTheFilesOfARevision) {
  scratch_.write("same", "same");
  const auto first = scratch_.commit_file("a", "1");
  scratch_.git({"rm", "--quiet", "a"});
  const auto second = scratch_.commit_file("b", "2");
  ASSERT_TRUE(mirror()->update());
  const auto source = scratch_.home() / "source";
  ASSERT_TRUE(mirror()->check_out(first, source).has_value());
  EXPECT_EQ(read_file(source / "a").value(), "1");
  const auto time = std::filesystem::last_write_time(source / "same");
  ASSERT_TRUE(write_file_atomically(source / "left/behind", "x"));
  ASSERT_TRUE(write_file_atomically(source / "same", "spoilt"));
  ASSERT_TRUE(write_file_atomically(source / "same", "same"));
  ASSERT_TRUE(mirror()->check_out(second, source).has_value());
  EXPECT_FALSE(std::filesystem::exists(source / "a"));
  EXPECT_FALSE(std::filesystem::exists(source / "left"));
  EXPECT_EQ(read_file(source / "b").value(), "2");
  EXPECT_GE(std::filesystem::last_write_time(source / "same"), time);
  // A damaged worktree, and one whose process was killed in the middle.
  ASSERT_TRUE(write_file_atomically(
      scratch_.home() / "mirror" / "worktrees" / "source" / "index.lock", ""));
  ASSERT_TRUE(mirror()->check_out(first, source).has_value());
  std::filesystem::remove(source / ".git");
  const auto again = mirror()->check_out(second, source);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(read_file(source / "b").value(), "2");
}

TEST_F(GitMirrorTest, GoesOnAfterAKilledFetch) {
  static_cast<void>(scratch_.commit_file("a", "1"));
  scratch_.git({"branch", "gone"});
  ASSERT_TRUE(mirror()->update());
  for (const char* left : {"packed-refs.lock", "HEAD.lock", "refs/heads/main.lock"}) {
    ASSERT_TRUE(write_file_atomically(scratch_.home() / "mirror" / left, ""));
  }
  const auto second = scratch_.commit_file("a", "2");
  scratch_.git({"branch", "--delete", "--force", "--quiet", "gone"});
  const auto update = mirror()->update();
  ASSERT_TRUE(update.has_value()) << update.error().message;
  EXPECT_EQ(update->tip, second);
  EXPECT_THAT(update->rewritten, IsEmpty()) << "a removed branch is nothing to tell";
}

/// Makes the state after years of fetches.
TEST_F(GitMirrorTest, IsPackedAndKeepsWhatNothingReaches) {
  const auto tip = scratch_.commit_file("a", "1");
  ASSERT_TRUE(mirror()->update());
  const auto bare = scratch_.home() / "mirror";
  const auto git = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all = {"--git-dir", bare.string()};
    all.insert(all.end(), words.begin(), words.end());
    return scratch_.git(std::move(all));
  };
  const auto lost = git({"commit-tree", "-m", "reached by nothing", tip + "^{tree}"});
  git({"repack", "-a", "-d", "--quiet"});
  const auto packs = bare / "objects/pack";
  const auto names = packs_in(packs);
  ASSERT_EQ(names.size(), 1U);
  constexpr int kFetches = 60;
  for (int i = 0; i < kFetches; ++i) {
    for (const auto* part : {".pack", ".idx"}) {
      auto source = packs / names.front();
      std::filesystem::copy_file(source.replace_extension(part),
                                 packs / fmt::format("pack-{:040x}{}", i, part));
    }
  }
  ASSERT_TRUE(mirror()->update());
  EXPECT_LE(packs_in(packs).size(), 2U);
  EXPECT_EQ(git({"cat-file", "-t", lost.substr(0, lost.find('\n'))}), "commit\n");
  EXPECT_EQ(git({"cat-file", "-t", tip}), "commit\n");
}

TEST_F(GitMirrorTest, NeverTouchesTheCheckout) {
  const auto first = scratch_.commit_file("a", "1");
  scratch_.write("a", "work in progress");
  scratch_.write("new", "not yet added");
  const auto before = scratch_.git({"status", "--porcelain"});
  ASSERT_TRUE(mirror()->update());
  ASSERT_TRUE(mirror()->check_out(first, scratch_.home() / "source").has_value());
  EXPECT_EQ(scratch_.git({"status", "--porcelain"}), before);
  EXPECT_EQ(scratch_.git({"worktree", "list"}).find("source"), std::string::npos);
}

TEST_F(GitMirrorTest, SaysWhatIsWrongWithTheRepository) {
  spec_.repository.url = (scratch_.home() / "nothing").string();
  const auto update = mirror()->update();
  ASSERT_FALSE(update);
  EXPECT_EQ(update.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(update.error().message, HasSubstr("fetching '"));
  EXPECT_EQ(mirror()->resolve("HEAD").error().code, ErrorCode::kNotFound);
}

TEST_F(GitMirrorTest, SaysThatABranchIsNotThere) {
  static_cast<void>(scratch_.commit_file("a", "1"));
  spec_.branch = "release";
  EXPECT_THAT(mirror()->update().error().message, HasSubstr("has no branch 'release'"));
}

TEST_F(GitMirrorTest, RefusesAShallowCloneByName) {
  static_cast<void>(scratch_.commit_file("a", "1"));
  static_cast<void>(scratch_.commit_file("a", "2"));
  const auto clone = (scratch_.home() / "clone").string();
  static_cast<void>(
      scratch_.git({"clone", "--quiet", "--depth", "1", "file://" + spec_.repository.url, clone}));
  spec_.repository.url = clone;
  const auto update = mirror()->update();
  ASSERT_FALSE(update);
  EXPECT_EQ(update.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(update.error().message, HasSubstr("fetch --unshallow"));
}

/// A repository of Mercurial with the same interface as one of git.
class HgMirrorTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("hg")) {
      GTEST_SKIP() << "Mercurial is not installed";
    }
    hg({"init", checkout_.string()});
    spec_.repository = {.kind = RepositoryKind::kHg, .url = checkout_.string(), .engine = "toy"};
  }
  std::string hg(std::vector<std::string> arguments) const {
    return VersionControl("hg", "").run(std::move(arguments)).value();
  }
  std::string commit_file(const std::string& name, std::string_view content) const {
    EXPECT_TRUE(write_file_atomically(checkout_ / name, content));
    hg({"--cwd", checkout_.string(), "commit", "--addremove", "--quiet", "--user", "Ann <a@b.c>",
        "--message", "change " + name});
    return lines_of(hg({"--cwd", checkout_.string(), "log", "--rev", ".", "--template", "{node}"}))
        .front();
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-hg").value();
  std::filesystem::path checkout_ = folder_.path() / "checkout";
  RepositorySpec spec_;
};

TEST_F(HgMirrorTest, DoesWhatTheOneOfGitDoes) {
  const auto first = commit_file("a", "1");
  const auto second = commit_file("a", "2");
  const auto reverted = commit_file("a", "1");
  const auto mirror = make_mirror(spec_, folder_.path() / "mirror");
  const auto update = mirror->update();
  ASSERT_TRUE(update.has_value()) << update.error().message;
  EXPECT_EQ(update->tip, reverted);
  EXPECT_EQ(mirror->resolve("HEAD~1").value(), second);
  EXPECT_EQ(mirror->resolve(first.substr(0, 12)).value(), first);
  EXPECT_EQ(mirror->resolve("nope").error().code, ErrorCode::kNotFound);
  const auto log = mirror->log({.tip = reverted, .since = first}).value();
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0].hash, reverted);
  EXPECT_EQ(log[0].position, 3);
  EXPECT_EQ(log[0].author, "Ann");
  EXPECT_EQ(log[0].subject, "change a");
  EXPECT_THAT(log[0].parents, ElementsAre(second));
  EXPECT_THAT(mirror->changed_files(second).value(), ElementsAre("a"));
  const auto digest = [&](const std::string& revision) {
    return mirror->content_digest(revision, {}).value();
  };
  EXPECT_NE(digest(first), digest(second));
  EXPECT_EQ(digest(first), digest(reverted)) << "a revert has the content of before";
  const auto source = folder_.path() / "source";
  ASSERT_TRUE(mirror->check_out(second, source).has_value());
  EXPECT_EQ(read_file(source / "a").value(), "2");
  ASSERT_TRUE(write_file_atomically(source / "left", "x"));
  ASSERT_TRUE(mirror->check_out(first, source).has_value());
  EXPECT_EQ(read_file(source / "a").value(), "1");
  EXPECT_FALSE(std::filesystem::exists(source / "left"));
}

TEST_F(HgMirrorTest, TellsLinksByWhereTheyLead) {
  std::filesystem::create_directory_symlink("folder", checkout_ / "to-folder");
  std::filesystem::create_symlink("nowhere", checkout_ / "link");
  const auto first = commit_file("folder/a", "1");
  std::filesystem::remove(checkout_ / "link");
  std::filesystem::create_symlink("elsewhere", checkout_ / "link");
  const auto second = commit_file("b", "1");
  const auto mirror = make_mirror(spec_, folder_.path() / "mirror");
  ASSERT_TRUE(mirror->update());
  const PathFilter links{.include = {"link", "to-folder"}};
  const auto before = mirror->content_digest(first, links);
  ASSERT_TRUE(before.has_value()) << before.error().message;
  EXPECT_NE(*before, mirror->content_digest(second, links).value());
}

TEST_F(HgMirrorTest, LeavesNothingInSubrepositories) {
  const auto sub = checkout_ / "sub";
  hg({"init", sub.string()});
  ASSERT_TRUE(write_file_atomically(sub / "s", "1"));
  hg({"--cwd", sub.string(), "commit", "--addremove", "--quiet", "--user", "a", "--message", "s"});
  const auto revision = commit_file(".hgsub", "sub = sub\n");
  const auto mirror = make_mirror(spec_, folder_.path() / "mirror");
  ASSERT_TRUE(mirror->update());
  const auto source = folder_.path() / "source";
  for (int i = 0; i < 2; ++i) {
    const auto taken = mirror->check_out(revision, source);
    ASSERT_TRUE(taken.has_value()) << taken.error().message;
    EXPECT_EQ(read_file(source / "sub/s").value(), "1");
    EXPECT_FALSE(std::filesystem::exists(source / "sub/product"));
    ASSERT_TRUE(write_file_atomically(source / "sub/product", "x"));
    ASSERT_TRUE(write_file_atomically(source / "sub/s", "spoilt"));
  }
  ASSERT_TRUE(write_file_atomically(sub / "s", "2"));
  hg({"--cwd", sub.string(), "commit", "--quiet", "--user", "a", "--message", "s"});
  const auto moved = commit_file("a", "1");
  ASSERT_TRUE(mirror->update());
  const PathFilter inner{.include = {"sub/s"}};
  EXPECT_NE(mirror->content_digest(revision, inner).value(),
            mirror->content_digest(moved, inner).value());
}

TEST(VersionControl, SaysHowToInstallWhatIsAbsent) {
  const VersionControl absent("no-such-program", "install it with X");
  const auto output = absent.run({"log"});
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(output.error().message, "no-such-program is not installed: install it with X");
}

TEST(PathFilter, KnowsFoldersFilesAndPatterns) {
  const PathFilter paths{.include = {"src", "CMakeLists.txt", "*.cmake"}, .exclude = {"src/doc/"}};
  EXPECT_TRUE(paths.matches("src/a.cpp"));
  EXPECT_TRUE(paths.matches("CMakeLists.txt"));
  EXPECT_TRUE(paths.matches("cmake/deep/x.cmake"));
  EXPECT_FALSE(paths.matches("srcs/a.cpp"));
  EXPECT_FALSE(paths.matches("src/doc/a.cpp"));
  EXPECT_FALSE(paths.matches("README"));
  EXPECT_TRUE(PathFilter{}.matches("anything"));
}

TEST(PathFilter, TakesAFolderWhoseFilesAreNotKnownWhereOneMayMatter) {
  const auto is_included = [](const std::string& entry) {
    return PathFilter{.include = {entry}, .exclude = {"*.md", "ext/sub/doc"}}.matches("ext/sub/");
  };
  for (const char* entry : {"ext", "ext/", "ext/sub", "ext/sub/src", "ext/sub/a.cpp", "*.cpp",
                            "ext/*/src", "e?t/sub/a.cpp"}) {
    EXPECT_TRUE(is_included(entry)) << entry;
  }
  for (const char* entry : {"src", "ext/subs", "ext/sub2/a.cpp", "ext/other/*.cpp"}) {
    EXPECT_FALSE(is_included(entry)) << entry;
  }
  EXPECT_TRUE(PathFilter{}.matches("ext/sub/"));
  EXPECT_FALSE(PathFilter{.exclude = {"ext"}}.matches("ext/sub/"));
}

}  // namespace
}  // namespace assay
