// Repositories as they are found in public, each taken at several commits in both directions by a
// user with inconvenient settings, while builds leave products everywhere.
#include "features/repository/build_cache.h"
#include "features/repository/build_entry.h"
#include "features/repository/build_key.h"
#include "features/repository/builder.h"
#include "features/repository/mirror.h"
#include "features/repository/path_filter.h"
#include "features/repository/repository_spec.h"
#include "features/repository/testing/scratch_repository.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// Content by path.
using Files = std::map<std::string, std::string>;

/// A commit, and what a checkout of it holds.
struct Snapshot {
  std::string hash;
  Files files;
};

constexpr const char* kInconvenient =
    "[protocol \"file\"]\n allow = always\n"
    "[log]\n showSignature = true\n"
    "[core]\n autocrlf = true\n eol = crlf\n"
    "[submodule]\n recurse = true\n"
    "[clone]\n defaultRemoteName = upstream\n"
    "[i18n]\n logOutputEncoding = ISO-8859-1\n";
constexpr const char* kPlain =
    "[protocol \"file\"]\n allow = always\n"
    "[user]\n name = Ann\n email = ann@example.org\n"
    "[init]\n defaultBranch = main\n[advice]\n addEmbeddedRepo = false\n";

Files files_below(const stdfs::path& folder) {
  Files files;
  for (auto entry = stdfs::recursive_directory_iterator(folder);
       entry != stdfs::recursive_directory_iterator(); ++entry) {
    const auto name = entry->path().lexically_relative(folder).string();
    if (entry->path().filename() == ".git") {
      entry.disable_recursion_pending();
    } else if (entry->is_symlink()) {
      files[name] = "-> " + stdfs::read_symlink(entry->path()).string();
    } else if (entry->is_regular_file()) {
      files[name] = read_file(entry->path()).value();
    }
  }
  return files;
}

/// Acts like a build: changes all files, and leaves some in each folder.
void spoil(const stdfs::path& folder) {
  for (const auto& [name, content] : files_below(folder)) {
    ASSERT_TRUE(write_file_atomically(folder / name, content + "spoilt"));
    ASSERT_TRUE(write_file_atomically((folder / name).parent_path() / "product.o", name));
  }
}

class ShapesTest : public testing::Test {
 protected:
  ShapesTest() {
    for (const auto& [name, text] : {std::pair("plain", kPlain), {"user", kInconvenient}}) {
      EXPECT_TRUE(write_file_atomically(folder_.path() / name, text));
    }
    ::setenv("GIT_CONFIG_GLOBAL", (folder_.path() / "user").c_str(), 1);
    make("main");
  }
  void TearDown() override { ::unsetenv("GIT_CONFIG_GLOBAL"); }

  [[nodiscard]] stdfs::path at(const std::string& repository) const {
    return folder_.path() / repository;
  }
  std::string git(const std::string& repository, std::vector<std::string> arguments,
                  std::map<std::string, std::string> env = {}) const {
    arguments.insert(arguments.begin(), {"git", "-C", at(repository).string()});
    env.emplace("GIT_CONFIG_GLOBAL", (folder_.path() / "plain").string());
    const auto output = run_command({.argv = arguments, .env = std::move(env), .stderr_file = ""},
                                    std::chrono::minutes(1));
    EXPECT_TRUE(output.has_value() && output->exit_code == 0)
        << fmt::format("{}", fmt::join(arguments, " "));
    return output ? output->output.substr(0, output->output.find('\n')) : "";
  }
  void make(const std::string& repository) const {
    stdfs::create_directories(at(repository));
    git(repository, {"init", "--quiet"});
  }
  std::string commit(const std::string& repository, const Files& files = {},
                     const std::map<std::string, std::string>& env = {}) const {
    for (const auto& [name, content] : files) {
      EXPECT_TRUE(write_file_atomically(at(repository) / name, content));
    }
    git(repository, {"add", "--all", "--force"});
    git(repository, {"commit", "--quiet", "--allow-empty", "--message", "change"}, env);
    return git(repository, {"rev-parse", "HEAD"});
  }
  /// Commits what is in "main" and its submodules.
  void take(const Files& files = {}) {
    const auto hash = commit("main", files);
    git("main", {"submodule", "--quiet", "update", "--init", "--recursive"});
    snapshots_.push_back({.hash = hash, .files = files_below(at("main"))});
  }
  void add_module(const std::string& repository, const std::string& url, const std::string& path,
                  const std::string& name = "") const {
    git(repository, {"submodule", "--quiet", "add", "--force", "--name", name.empty() ? path : name,
                     url, path});
  }
  /// Has a submodule point to a commit that its own repository got later.
  void advance(const std::string& repository, const std::string& path,
               const std::string& hash) const {
    git(repository + "/" + path, {"fetch", "--quiet", "--no-recurse-submodules", "origin"});
    git(repository + "/" + path, {"checkout", "--quiet", hash});
  }
  [[nodiscard]] RepositorySpec spec() const {
    RepositorySpec spec{.origin = "scratch.json"};
    spec.repository = {.url = at("main").string(), .engine = "toy"};
    return spec;
  }
  [[nodiscard]] std::unique_ptr<Mirror> mirror() const { return make_mirror(spec(), at("mirror")); }

  void expect_each_in_any_order() const {
    const auto opened = mirror();
    const auto updated = opened->update();
    ASSERT_TRUE(updated.has_value()) << updated.error().message;
    auto order = snapshots_;
    order.insert(order.end(), snapshots_.rbegin(), snapshots_.rend());
    for (const auto& [hash, files] : order) {
      const auto taken = opened->check_out(hash, at("source"));
      ASSERT_TRUE(taken.has_value()) << taken.error().message;
      ASSERT_EQ(files_below(at("source")), files);
      spoil(at("source"));
    }
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-shapes").value();
  std::vector<Snapshot> snapshots_;
};

TEST_F(ShapesTest, NestedSubmodules) {
  make("sub");
  make("inner");
  commit("inner", {{"i.txt", "1"}});
  add_module("sub", at("inner").string(), "in");
  commit("sub", {{"s.txt", "1"}, {".gitignore", "*.o\n"}});
  add_module("main", at("sub").string(), "lib/sub");
  take({{"a.txt", "1"}});
  const auto inner = commit("inner", {{"i.txt", "2"}});
  advance("sub", "in", inner);
  advance("main", "lib/sub", commit("sub"));
  take();
  advance("main", "lib/sub", commit("sub", {{"s.txt", "3"}, {"t.txt", "3"}}));
  take({{"a.txt", "3"}});
  expect_each_in_any_order();
}

TEST_F(ShapesTest, SubmodulesByRelativeAddresses) {
  make("sub");
  make("inner");
  commit("inner", {{"i.txt", "1"}});
  add_module("sub", "../inner", "in");
  commit("sub", {{"s.txt", "1"}});
  add_module("main", "../sub", "sub");
  take({{"a.txt", "1"}});
  advance("main", "sub", commit("sub", {{"s.txt", "2"}}));
  take();
  expect_each_in_any_order();
  // A clone of it: its submodules are where they were.
  stdfs::create_directories(at("elsewhere"));
  git("elsewhere", {"clone", "--quiet", at("main").string(), "main"});
  auto cloned = spec();
  cloned.repository.url = at("elsewhere/main").string();
  const auto of_clone = make_mirror(cloned, at("mirror2"));
  ASSERT_TRUE(of_clone->update());
  const auto taken = of_clone->check_out(snapshots_[0].hash, at("source2"));
  ASSERT_TRUE(taken.has_value()) << taken.error().message;
  EXPECT_EQ(files_below(at("source2")), snapshots_[0].files);
}

TEST_F(ShapesTest, SubmodulesThatMove) {
  make("sub");
  make("inner");
  commit("inner", {{"i.txt", "1"}});
  add_module("sub", at("inner").string(), "in");
  commit("sub", {{"s.txt", "1"}});
  add_module("main", at("sub").string(), "sub");
  take();
  // The inner one goes to another address, where alone its next commit is, then the outer one.
  git("main", {"clone", "--quiet", at("inner").string(), at("inner2").string()});
  const auto inner = commit("inner2", {{"i.txt", "2"}});
  git("sub", {"submodule", "--quiet", "set-url", "in", at("inner2").string()});
  advance("sub", "in", inner);
  advance("main", "sub", commit("sub"));
  git("main/sub", {"submodule", "--quiet", "sync"});
  take();
  git("main", {"clone", "--quiet", at("sub").string(), at("sub2").string()});
  const auto moved = commit("sub2", {{"s.txt", "3"}});
  git("main", {"submodule", "--quiet", "set-url", "sub", at("sub2").string()});
  advance("main", "sub", moved);
  take();
  git("main", {"mv", "sub", "third_party"});
  take();
  expect_each_in_any_order();
}

TEST_F(ShapesTest, SubmodulesThatComeGoAndBecomeFolders) {
  for (const char* name : {"sub", "other"}) {
    make(name);
    commit(name, {{"s.txt", name}, {"deep/t.txt", name}});
  }
  take({{"a.txt", "1"}, {"sub/s.txt", "a folder"}, {"sub/deep/u.txt", "a folder"}});
  const auto drop = [this] {
    git("main", {"rm", "--quiet", "-r", "--force", "sub"});
    stdfs::remove_all(at("main/sub"));
  };
  drop();
  add_module("main", at("sub").string(), "sub");
  take();
  drop();
  add_module("main", at("other").string(), "sub", "another");
  take();
  drop();
  take();
  take({{"sub/s.txt", "a folder again"}});
  expect_each_in_any_order();
}

TEST_F(ShapesTest, SubmodulesOfWhichSomeFilesMatter) {
  make("sub");
  commit("sub", {{"src/s.c", "1"}, {"README.md", "1"}});
  add_module("main", at("sub").string(), "ext/sub");
  take({{"a.txt", "1"}});
  advance("main", "ext/sub", commit("sub", {{"src/s.c", "2"}}));
  take();
  const auto opened = mirror();
  ASSERT_TRUE(opened->update());
  const auto is_same_for = [&](const PathFilter& paths) {
    return opened->content_digest(snapshots_[0].hash, paths).value() ==
           opened->content_digest(snapshots_[1].hash, paths).value();
  };
  EXPECT_FALSE(is_same_for({.include = {"ext/sub/src"}}));
  EXPECT_FALSE(is_same_for({.include = {"*.c"}}));
  EXPECT_FALSE(is_same_for({.include = {"ext"}}));
  EXPECT_TRUE(is_same_for({.include = {"a.txt", "ext/other/*.c"}}));
  EXPECT_TRUE(is_same_for({.exclude = {"ext/sub"}}));
  const auto changed = opened->changed_files(snapshots_[1].hash).value();
  ASSERT_THAT(changed, ElementsAre("ext/sub/"));
  EXPECT_TRUE(PathFilter{.include = {"ext/sub/src"}}.matches(changed.front()));
}

TEST_F(ShapesTest, ALinkInThePlaceOfTheFolderOfASubmodule) {
  make("sub");
  commit("sub", {{"s.txt", "1"}});
  add_module("main", at("sub").string(), "ext/sub");
  take({{"a.txt", "1"}});
  ASSERT_TRUE(write_file_atomically(at("outside/sub/mine.txt"), "precious"));
  git("main", {"rm", "--quiet", "-r", "--force", "ext/sub"});
  stdfs::remove_all(at("main/ext"));
  stdfs::create_directory_symlink(at("outside"), at("main/ext"));
  take();
  const auto opened = mirror();
  ASSERT_TRUE(opened->update());
  for (const auto& snapshot : snapshots_) {
    const auto taken = opened->check_out(snapshot.hash, at("source"));
    ASSERT_TRUE(taken.has_value()) << taken.error().message;
  }
  EXPECT_TRUE(stdfs::is_symlink(at("source/ext")));
  EXPECT_EQ(read_file(at("outside/sub/mine.txt")).value_or(""), "precious");
}

TEST_F(ShapesTest, PlacesOfSubmodulesWithoutAnAddress) {
  make("sub");
  commit("sub", {{"s.txt", "1"}});
  add_module("main", at("sub").string(), "sub");
  take({{"a.txt", "1"}});
  stdfs::remove(at("main/.gitmodules"));
  const auto orphan = commit("main");
  auto files = snapshots_[0].files;
  files.erase("sub/s.txt");
  files.erase(".gitmodules");
  snapshots_.push_back({.hash = orphan, .files = files});
  expect_each_in_any_order();
}

TEST_F(ShapesTest, NamesAndKindsOfFiles) {
  stdfs::create_symlink("a.txt", at("main/link"));
  take({{"a.txt", "1"}, {"tab\there \"q\" \xc3\xbc.txt", "2"}, {".gitattributes", "*.txt text\n"}});
  stdfs::remove(at("main/link"));
  take({{"link/now/a/folder", "3"}});
  const auto opened = mirror();
  ASSERT_TRUE(opened->update());
  EXPECT_THAT(opened->changed_files(snapshots_[0].hash).value(),
              ElementsAre(".gitattributes", "a.txt", "link", "tab\there \"q\" \xc3\xbc.txt"));
  const PathFilter one{.include = {"tab\there \"q\" \xc3\xbc.txt"}};
  EXPECT_EQ(opened->content_digest(snapshots_[0].hash, one).value(),
            opened->content_digest(snapshots_[1].hash, one).value());
  EXPECT_NE(opened->content_digest(snapshots_[0].hash, one).value(),
            opened->content_digest(snapshots_[0].hash, {.include = {"nothing"}}).value());
  expect_each_in_any_order();
}

TEST_F(ShapesTest, PointersOfLfsWithoutIt) {
  const auto revision =
      commit("main", {{".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n"},
                      {"net.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:12\n"},
                      {"true.bin", "content"}});
  auto described = spec();
  const auto take_with = [&] {
    const auto opened = make_mirror(described, at("mirror"));
    EXPECT_TRUE(opened->update());
    return opened->check_out(revision, at("source"));
  };
  for (int i = 0; i < 2; ++i) {
    const auto taken = take_with();
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, ErrorCode::kUnavailable) << "no fault of the commit";
    EXPECT_THAT(taken.error().message,
                AllOf(HasSubstr("'net.bin' is in Git LFS"), HasSubstr("git lfs install")));
  }
  described.paths.exclude = {"*.bin"};
  EXPECT_TRUE(take_with().has_value());
  described.paths.exclude = {};
  // A filter in the place of git-lfs: the file comes although its pointer was there before.
  EXPECT_TRUE(write_file_atomically(
      folder_.path() / "user",
      std::string(kInconvenient) + "[filter \"lfs\"]\n smudge = echo weights\n"));
  const auto taken = take_with();
  ASSERT_TRUE(taken.has_value()) << taken.error().message;
  EXPECT_EQ(read_file(at("source/net.bin")).value(), "weights\n");
}

TEST_F(ShapesTest, SignedCommitsMergesAndDatesOutOfOrder) {
  const auto on = [](const char* date) {
    return std::map<std::string, std::string>{{"GIT_COMMITTER_DATE", date},
                                              {"GIT_AUTHOR_DATE", date}};
  };
  const auto root = commit("main", {{"a", "1"}}, on("2020-01-05T00:00:00Z"));
  git("main", {"checkout", "--quiet", "-b", "side"});
  const auto side = commit("main", {{"b", "1"}}, on("2031-01-01T00:00:00Z"));
  git("main", {"checkout", "--quiet", "main"});
  const auto older = commit("main", {{"a", "2"}}, on("2001-01-01T00:00:00Z"));
  git("main", {"merge", "--quiet", "--no-ff", "--message", "merge \xc3\xbc", "side"},
      on("2010-01-01T00:00:00Z"));
  // A signature that nobody can check, as most of public ones.
  const auto raw = git("main", {"rev-parse", "HEAD^{tree}"});
  const auto text = fmt::format(
      "tree {}\nparent {}\nauthor Ann <a@b.c> 1262304000 +0000\ncommitter Ann <a@b.c> 1262304000 "
      "+0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abcd\n -----END PGP SIGNATURE-----\n\n\x1f "
      "odd\n",
      raw, git("main", {"rev-parse", "HEAD"}));
  ASSERT_TRUE(write_file_atomically(folder_.path() / "commit", text));
  const auto signed_one =
      git("main", {"hash-object", "-t", "commit", "-w", (folder_.path() / "commit").string()});
  git("main", {"reset", "--quiet", "--hard", signed_one});
  const auto opened = mirror();
  const auto updated = opened->update();
  ASSERT_TRUE(updated.has_value()) << updated.error().message;
  const auto log = opened->log({.tip = signed_one});
  ASSERT_TRUE(log.has_value()) << log.error().message;
  ASSERT_EQ(log->size(), 4U);
  EXPECT_EQ((*log)[0].subject, "\x1f odd");
  EXPECT_EQ((*log)[1].subject, "merge \xc3\xbc");
  EXPECT_THAT((*log)[1].parents, ElementsAre(older, side));
  EXPECT_EQ((*log)[2].hash, older) << "by parents, whatever the dates say";
  EXPECT_EQ((*log)[3].hash, root);
  EXPECT_EQ((*log)[3].position, 1);
}

TEST_F(ShapesTest, NamesOfBranches) {
  const auto root = commit("main", {{"a", "1"}});
  std::map<std::string, std::string> tips;
  for (const char* name : {"feature/\xc3\xbc", "a'b$(touch${IFS}x);c", "origin/main", "0123abc",
                           "x@y", "#1", "-", "tab/le", "HEAD"}) {
    const auto hash = commit("main", {{"a", name}});
    git("main", {"update-ref", std::string("refs/heads/") + name, hash});
    tips[name] = hash;
  }
  git("main", {"reset", "--quiet", "--hard", root});
  const auto opened = mirror();
  const auto updated = opened->update();
  ASSERT_TRUE(updated.has_value()) << updated.error().message;
  EXPECT_EQ(updated->tip, root);
  for (const auto& [name, hash] : tips) {
    const auto found = opened->resolve(name);
    EXPECT_EQ(found.value_or(""), name == "HEAD" ? root : hash) << name;
  }
  EXPECT_EQ(opened->resolve("origin/x@y").value_or(""), tips["x@y"]);
  // A branch makes room for one below its name.
  git("main", {"update-ref", "-d", "refs/heads/x@y"});
  git("main", {"update-ref", "refs/heads/x@y/z", root});
  EXPECT_TRUE(opened->update().has_value());
  EXPECT_EQ(opened->resolve("x@y/z").value_or(""), root);
  EXPECT_EQ(opened->resolve(tips["x@y"]).value_or(""), tips["x@y"]);
}

/// Builds revisions of "main" with one command.
class BuiltShapesTest : public ShapesTest {
 protected:
  [[nodiscard]] BuildEntry build(const std::string& revision, const std::string& script,
                                 bool has_network = false) const {
    auto described = spec();
    described.environments = {{.name = "default",
                               .build = {shell_step(script)},
                               .outputs = {{"bench", "bench"}},
                               .has_network = has_network}};
    const auto opened = make_mirror(described, at("mirror"));
    EXPECT_TRUE(opened->update());
    const auto built = build_revision(*opened, BuildCache(at("builds")), revision,
                                      {.spec = described,
                                       .environment = described.environments.front(),
                                       .home = at("home"),
                                       .is_rebuild = true,
                                       .lock_folder = at("locks")});
    EXPECT_TRUE(built.has_value()) << (built ? "" : built.error().message);
    return built ? built->entry : BuildEntry{};
  }
  [[nodiscard]] static std::string bench_of(const BuildEntry& entry) {
    return entry.outcome == BuildOutcome::kBuilt ? read_file(entry.output("bench")).value_or("")
                                                 : entry.reason;
  }
};

TEST_F(BuiltShapesTest, MakefilesThatBuildInTheSource) {
  if (!find_program("make")) {
    GTEST_SKIP() << "no make";
  }
  const Files makefile = {{"Makefile", "product: v.txt\n\tcp v.txt product\n"},
                          {".gitignore", "product\n"}};
  const std::map<std::string, std::string> long_ago = {
      {"GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z"}, {"GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z"}};
  make("sub");
  commit("sub", makefile);
  const auto a = commit("sub", {{"v.txt", "A"}}, long_ago);
  add_module("main", at("sub").string(), "sub");
  const auto first = commit("main", makefile);
  const auto second = commit("main", {{"v.txt", "1"}});
  advance("main", "sub", commit("sub", {{"v.txt", "B"}}));
  const auto third = commit("main");
  ASSERT_NE(a, third);
  // A product that is newer than its source is not made again, and those here always are.
  const std::string script =
      "cd {source}; touch -d '2 days ago' v.txt sub/v.txt || true; make -s -C sub; cp sub/product "
      "{work}/bench; test ! -e v.txt || { make -s; cat product >> {work}/bench; }";
  for (const auto& [revision, wanted] :
       {std::pair(first, "A"), {second, "A1"}, {third, "B1"}, {second, "A1"}, {first, "A"}}) {
    EXPECT_EQ(bench_of(build(revision, script)), wanted);
  }
}

TEST_F(BuiltShapesTest, BuildsThatLeaveAServerBehind) {
  const auto first = commit("main", {{"v.txt", "A"}});
  const auto second = commit("main", {{"v.txt", "B"}});
  // It leaves group and session, and would spoil the next build and hold its lock.
  const std::string script =
      "setsid sh -c 'echo $$ > {work}/../server; sleep 1000; echo spoilt > {work}/bench' & "
      "until test -s {work}/../server; do sleep 0.01; done; cp {source}/v.txt {work}/bench";
  for (const bool has_network : {true, false}) {
    EXPECT_EQ(bench_of(build(first, script, has_network)), "A");
    const auto folder = repository_folder(at("home"), spec().repository) / "default";
    const auto server = read_file(folder / "server").value();
    EXPECT_TRUE(!has_network || !stdfs::exists("/proc/" + server.substr(0, server.find('\n'))));
    stdfs::remove(folder / "server");
    EXPECT_EQ(bench_of(build(second, script, has_network)), "B");
    stdfs::remove(folder / "server");
  }
}

TEST_F(BuiltShapesTest, BuildsThatAreKilled) {
  const auto revision = commit("main", {{"v.txt", "A"}});
  const auto killed = build(revision, "kill -KILL $$");
  EXPECT_TRUE(killed.was_killed);
  EXPECT_THAT(killed.reason, HasSubstr("died of signal 9"));
  EXPECT_FALSE(build(revision, "kill -SEGV $$").was_killed) << "a compiler that crashes, say";
  const std::string once = "test -e {work}/../again || { touch {work}/../again; kill -KILL $$; }; ";
  EXPECT_EQ(bench_of(build(revision, once + "cp {source}/v.txt {work}/bench")), "A");
}

}  // namespace
}  // namespace assay
