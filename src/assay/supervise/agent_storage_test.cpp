#include "assay/supervise/agent_storage.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay/base/digest.h"
#include "assay/base/file_descriptor.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/wire/agent_messages.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

struct stat status_of(const stdfs::path& path) {
  struct stat info{};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info;
}

class AgentStorageTest : public testing::Test {
 protected:
  Result<wire::PutReply> put(const wire::Put& part, std::string_view content) {
    return storage_->put(part, std::as_bytes(std::span(content)));
  }
  std::string put(std::string_view content) {
    const auto reply = put({.sha256 = sha256_hex(content)}, content);
    EXPECT_TRUE(reply) << (reply ? "" : reply.error().message);
    return reply ? reply->path : "";
  }
  static wire::Tree tree_of(std::vector<wire::TreeFile> files) {
    auto digest = wire::digest_of_tree(files);
    return {.digest = std::move(digest), .files = std::move(files)};
  }
  stdfs::path make(const wire::Tree& tree) {
    const auto reply = storage_->make_tree(tree);
    EXPECT_TRUE(reply) << (reply ? "" : reply.error().message);
    return reply ? reply->path : "";
  }
  /// Another agent on the same folder.
  void start_anew() { storage_ = std::make_unique<AgentStorage>(home_); }
  std::vector<std::string> names_in(const stdfs::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : stdfs::directory_iterator(home_ / folder, error)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-storage").value();
  stdfs::path home_ = folder_.path();
  std::unique_ptr<AgentStorage> storage_ = std::make_unique<AgentStorage>(home_);
  const std::string one_ = sha256_hex("one");
  const std::string two_ = sha256_hex("two");
};

TEST_F(AgentStorageTest, NoticesADamagedBlob) {
  const auto path = put("whole");
  ASSERT_TRUE(write_file_atomically(path, "whale"));
  EXPECT_FALSE(storage_->find_blob(sha256_hex("whole"))->is_there);
  EXPECT_FALSE(stdfs::exists(path));
  put("whole");
  start_anew();
  EXPECT_TRUE(storage_->find_blob(sha256_hex("whole"))->is_there);
}

TEST_F(AgentStorageTest, TakesPartsInTheirOrderOnly) {
  const wire::Put first{.sha256 = sha256_hex("abcdef"), .offset = 0, .total_bytes = 6};
  const wire::Put second{.sha256 = first.sha256, .offset = 2, .total_bytes = 6};
  EXPECT_EQ(put(second, "cd").error().code, ErrorCode::kInvalidArgument);
  ASSERT_EQ(put(first, "ab")->path, "");
  const wire::Put gap{.sha256 = first.sha256, .offset = 4, .total_bytes = 6};
  EXPECT_EQ(put(gap, "ef").error().code, ErrorCode::kInvalidArgument);
  ASSERT_EQ(put(first, "ab")->path, "");
  ASSERT_EQ(put(second, "cd")->path, "");
  EXPECT_EQ(read_file(put(gap, "ef")->path).value(), "abcdef");
}

TEST_F(AgentStorageTest, RefusesPartsBeyondTheWhole) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  for (const auto& [offset, total] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 2}, {1, 3}, {-1, 3}, {kMost, 3}, {kMost, kMost}}) {
    const auto refused = put({.sha256 = one_, .offset = offset, .total_bytes = total}, "one");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST_F(AgentStorageTest, LeavesNothingOfABlobThatIsNotWhole) {
  ASSERT_TRUE(put({.sha256 = one_, .offset = 0, .total_bytes = 6}, "one"));
  put("two");  // Ends the other.
  EXPECT_EQ(put({.sha256 = one_}, "uno").error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(names_in("blobs"), ElementsAre(two_));
}

TEST_F(AgentStorageTest, TellsTheSpaceThatABlobNeeds) {
  const auto refused = put({.sha256 = one_, .offset = 0, .total_bytes = 1LL << 60}, "one");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(refused.error().message, HasSubstr("1152921504606846976 bytes are needed and "));
}

TEST_F(AgentStorageTest, TellsWhichBlobsATreeMisses) {
  const auto tree = tree_of({{.path = "a", .sha256 = one_},
                             {.path = "b", .sha256 = two_},
                             {.path = "c", .sha256 = two_}});
  EXPECT_THAT(storage_->make_tree(tree)->missing, UnorderedElementsAre(one_, two_));
  put("two");
  const auto reply = storage_->make_tree(tree);
  EXPECT_THAT(reply->missing, ElementsAre(one_));
  EXPECT_EQ(reply->path, "");
  EXPECT_THAT(names_in("trees"), ElementsAre());
}

TEST_F(AgentStorageTest, MakesATreeOfLinks) {
  const auto blob = put("one");
  const auto root =
      make(tree_of({{.path = "lib/x/a.so", .sha256 = one_}, {.path = "a.so.1", .sha256 = one_}}));
  EXPECT_EQ(status_of(root / "lib/x/a.so").st_ino, status_of(blob).st_ino);
  EXPECT_EQ(status_of(root / "a.so.1").st_ino, status_of(blob).st_ino);
  EXPECT_THAT(names_in("trees"), ElementsAre(root.filename().string()));
}

TEST_F(AgentStorageTest, CopiesWhereLinksAreRefused) {
  const auto elsewhere = stdfs::path("/dev/shm") / folder_.path().filename();
  stdfs::create_directory(elsewhere);
  if (status_of(elsewhere).st_dev == status_of(home_).st_dev) {
    GTEST_SKIP() << "/dev/shm is no file system of its own";
  }
  stdfs::create_directory_symlink(elsewhere, home_ / "trees");
  put("one");
  const auto tree = tree_of({{.path = "a", .sha256 = one_}});
  EXPECT_EQ(read_file(make(tree) / "a").value(), "one");
  start_anew();
  EXPECT_EQ(read_file(make(tree) / "a").value(), "one");
  stdfs::remove_all(elsewhere);
}

TEST_F(AgentStorageTest, SharesABlobBetweenAProgramAndAFile) {
  put("one");
  const auto program = make(tree_of({{.path = "a", .sha256 = one_, .is_executable = true}}));
  const auto file = make(tree_of({{.path = "a", .sha256 = one_}}));
  EXPECT_EQ(status_of(program / "a").st_mode & 0777, 0755U);
  EXPECT_EQ(status_of(file / "a").st_mode & 0111, 0U);
}

TEST_F(AgentStorageTest, UsesATreeThatIsThere) {
  put("one");
  const auto tree = tree_of({{.path = "a", .sha256 = one_}});
  const auto inode = status_of(make(tree)).st_ino;
  EXPECT_EQ(status_of(make(tree)).st_ino, inode);
  start_anew();
  EXPECT_EQ(status_of(make(tree)).st_ino, inode);
}

TEST_F(AgentStorageTest, MakesADamagedTreeAgain) {
  const auto damages = std::to_array<void (*)(const stdfs::path&)>({
      [](const stdfs::path& root) { stdfs::remove(root / "lib/b"); },
      [](const stdfs::path& root) { stdfs::remove_all(root); },
      [](const stdfs::path& root) { ASSERT_TRUE(write_file_atomically(root / "lib/b", "twa")); },
      [](const stdfs::path& root) {
        stdfs::remove(root / "lib/b");
        stdfs::create_symlink("/etc/hostname", root / "lib/b");
      },
      [](const stdfs::path& root) { ASSERT_EQ(::chmod((root / "a").c_str(), 0644), 0); },
      [](const stdfs::path& root) {
        stdfs::remove_all(root);
        ASSERT_TRUE(write_file_atomically(root, "in its place"));
      },
  });
  put("one");
  put("two");
  const auto tree = tree_of(
      {{.path = "a", .sha256 = one_, .is_executable = true}, {.path = "lib/b", .sha256 = two_}});
  for (std::size_t i = 0; i < damages.size(); ++i) {
    damages[i](make(tree));
    const auto root = make(tree);
    EXPECT_EQ(read_file(root / "a").value(), "one") << i;
    EXPECT_EQ(status_of(root / "a").st_mode & 0777, 0755U) << i;
    EXPECT_EQ(read_file(root / "lib/b").value(), "two") << i;
    EXPECT_EQ(names_in("trees").size(), 1U) << i;
  }
}

TEST_F(AgentStorageTest, NeverTakesTheNameOfATreeThatItMakesAgain) {
  put("one");
  put("two");
  const auto tree = tree_of({{.path = "a", .sha256 = one_}, {.path = "b", .sha256 = two_}});
  const auto path = make(tree);
  std::atomic<int> absent = 0;
  const std::jthread other_agent([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      absent += stdfs::exists(path) ? 0 : 1;
    }
  });
  for (int i = 0; i < 200; ++i) {
    stdfs::remove(path / "a");
    start_anew();
    put("one");
    make(tree);
  }
  EXPECT_EQ(absent, 0);
  EXPECT_EQ(read_file(path / "a").value(), "one");
}

TEST_F(AgentStorageTest, AsksForABlobThatWasDamagedThroughATree) {
  put("one");
  const auto tree = tree_of({{.path = "a", .sha256 = one_}});
  const auto root = make(tree);
  stdfs::resize_file(root / "a", 2);  // Shares the inode of the blob.
  EXPECT_THAT(storage_->make_tree(tree)->missing, ElementsAre(one_));
  put("one");
  EXPECT_EQ(read_file(make(tree) / "a").value(), "one");
}

TEST_F(AgentStorageTest, CountsTheBytesOfAFileOnce) {
  put("one");
  make(tree_of({{.path = "a", .sha256 = one_}, {.path = "b", .sha256 = one_}}));
  EXPECT_EQ(storage_->space()->blob_bytes, 3);
  make(tree_of({{.path = "a", .sha256 = one_, .is_executable = true}}));  // A copy.
  EXPECT_EQ(storage_->space()->blob_bytes, 6);
  EXPECT_GT(storage_->space()->free_bytes, 0);
}

/// Another agent, whose use is not that of the one that made things.
class PruneTest : public AgentStorageTest {
 protected:
  void use_long_ago(const stdfs::path& path, int hours) {
    const timespec time{.tv_sec = 1'000'000'000 - 3600L * hours, .tv_nsec = 0};
    const std::array<timespec, 2> times{time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times.data(), 0), 0);
  }
};

TEST_F(PruneTest, RemovesWhatWasNotUsedForLongest) {
  use_long_ago(put("one"), 1);
  use_long_ago(put("two"), 3);
  use_long_ago(put("three"), 2);
  start_anew();
  EXPECT_EQ(storage_->prune(11).value(), 0);
  EXPECT_EQ(storage_->prune(5).value(), 8);
  EXPECT_THAT(names_in("blobs"), ElementsAre(one_));
  EXPECT_EQ(storage_->space()->blob_bytes, 3);
}

TEST_F(PruneTest, KeepsWhatWasAskedForSince) {
  use_long_ago(put("one"), 1);
  use_long_ago(put("two"), 2);
  const auto tree = tree_of({{.path = "a", .sha256 = two_}});
  use_long_ago(make(tree), 2);
  start_anew();
  make(tree);
  start_anew();
  EXPECT_EQ(storage_->prune(3).value(), 3);
  EXPECT_THAT(names_in("blobs"), ElementsAre(two_));
  EXPECT_THAT(names_in("trees"), ElementsAre(tree.digest));
}

TEST_F(PruneTest, RemovesATreeAndItsBlobs) {
  put("one");
  make(tree_of({{.path = "x/a", .sha256 = one_}, {.path = "b", .sha256 = one_}}));
  start_anew();
  EXPECT_EQ(storage_->prune(0).value(), 3);
  EXPECT_THAT(names_in("blobs"), ElementsAre());
  EXPECT_THAT(names_in("trees"), ElementsAre());
}

TEST_F(PruneTest, KeepsWhatALivingAgentUses) {
  put("one");
  const auto tree = tree_of({{.path = "a", .sha256 = one_, .is_executable = true}});
  make(tree);
  AgentStorage other(home_);
  EXPECT_EQ(other.prune(0).value(), 0);
  start_anew();  // The first one has ended.
  EXPECT_EQ(other.prune(0).value(), 6);
}

TEST_F(PruneTest, EndsTheUseOfTheAgentThatIsAsked) {
  put("one");
  EXPECT_EQ(storage_->prune(0).value(), 3);
}

TEST_F(PruneTest, RemovesPartsThatAKilledAgentLeft) {
  ASSERT_TRUE(put({.sha256 = one_, .offset = 0, .total_bytes = 6}, "one"));
  stdfs::create_directories(home_ / "trees" / (two_ + ".part-0") / "lib");
  AgentStorage other(home_);
  EXPECT_EQ(other.prune(100).value(), 0);
  EXPECT_THAT(names_in("blobs"), ElementsAre(HasSubstr(one_ + ".part-")));  // Still arrives.
  EXPECT_THAT(names_in("trees"), ElementsAre());
  ASSERT_TRUE(write_file_atomically(home_ / "blobs" / (two_ + ".part-0"), "tw"));
  EXPECT_EQ(other.prune(100).value(), 2);
}

TEST_F(PruneTest, RefusesToKeepLessThanNothing) {
  EXPECT_EQ(storage_->prune(-1).error().code, ErrorCode::kInvalidArgument);
}

bool write_own_file(const char* path, const std::string& text) {
  const FileDescriptor file(::open(path, O_WRONLY | O_CLOEXEC));
  return ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// Gives this process a file system of 64 KiB at `folder`; false where the system permits none.
bool mount_small_file_system(const stdfs::path& folder) {
  const auto user = fmt::format("0 {} 1", ::geteuid());
  const auto group = fmt::format("0 {} 1", ::getegid());
  return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
         write_own_file("/proc/self/uid_map", user) &&
         write_own_file("/proc/self/setgroups", "deny") &&
         write_own_file("/proc/self/gid_map", group) &&
         ::mount("small", folder.c_str(), "tmpfs", 0, "size=64k") == 0;
}

/// Runs in a process of its own, which has the file system for itself. Tells on stderr how a tree
/// and a blob fail that do not fit.
[[noreturn]] void fill_small_file_system(const stdfs::path& home) {
  if (!mount_small_file_system(home)) {
    std::fputs("no file system may be mounted here", stderr);
    std::_Exit(0);
  }
  AgentStorage storage(home);
  const std::string large(40'000, 'x');
  const auto bytes = std::as_bytes(std::span(large));
  wire::Tree tree{.files = {{.path = "a", .sha256 = sha256_hex(large), .is_executable = true}}};
  tree.digest = wire::digest_of_tree(tree.files);
  const wire::Put first{.sha256 = sha256_hex("other"), .offset = 0, .total_bytes = 20'000};
  const wire::Put rest{.sha256 = first.sha256, .offset = 10'000, .total_bytes = 20'000};
  bool is_well = storage.put({.sha256 = sha256_hex(large)}, bytes).has_value();
  const auto made = storage.make_tree(tree);
  is_well = is_well && !made && made.error().code == ErrorCode::kExhausted &&
            stdfs::is_empty(home / "trees");
  // The disk fills while a blob arrives.
  is_well = is_well && storage.put(first, bytes.first(10'000)).has_value();
  is_well = is_well && write_file_atomically(home / "filling", large.substr(0, 10'000));
  const auto put = storage.put(rest, bytes.first(10'000));
  is_well = is_well && !put && put.error().code == ErrorCode::kExhausted;
  fmt::print(stderr, "{} {}", made ? "made" : made.error().message,
             put ? "put" : put.error().message);
  std::_Exit(is_well ? 0 : 1);
}

TEST_F(AgentStorageTest, TellsThatTheDiskIsFull) {
  EXPECT_EXIT(fill_small_file_system(home_), testing::ExitedWithCode(0),
              "no file system may be mounted|40000 bytes are needed and [0-9]+ are free.*20000 "
              "bytes are needed and [0-9]+ are free");
}

bool put_large(AgentStorage& storage, char letter) {
  const std::string large(30'000, letter);
  return storage.put({.sha256 = sha256_hex(large)}, std::as_bytes(std::span(large))).has_value();
}

/// Runs in a process of its own. Two files of 30 kB do not fit into the space left for it.
[[noreturn]] void keep_room_on_small_file_system(const stdfs::path& home) {
  if (!mount_small_file_system(home)) {
    std::_Exit(0);
  }
  auto storage = std::make_unique<AgentStorage>(home);
  bool is_well = put_large(*storage, 'a');
  storage = std::make_unique<AgentStorage>(home);
  is_well = is_well && put_large(*storage, 'b');   // Nobody uses the first one any more.
  is_well = is_well && !put_large(*storage, 'c');  // This agent was asked for the second one,
  constexpr auto kKeepAll = std::numeric_limits<std::int64_t>::max();
  is_well = is_well && storage->prune(kKeepAll).value_or(-1) == 0;
  is_well = is_well && put_large(*storage, 'c');  // and no longer is.
  is_well = is_well && storage->space()->blob_bytes == 30'000;
  std::_Exit(is_well ? 0 : 1);
}

TEST_F(AgentStorageTest, RemovesWhatNobodyUsesBeforeTheDiskIsFull) {
  EXPECT_EXIT(keep_room_on_small_file_system(home_), testing::ExitedWithCode(0), "");
}

TEST_F(AgentStorageTest, RefusesATreeOfNoBlobs) {
  const auto refused = storage_->make_tree(tree_of({{.path = "a", .sha256 = "../b"}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace assay
