#include "assay/supervise/agent_storage.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "assay/base/digest.h"
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

TEST_F(AgentStorageTest, AsksForABlobThatWasDamagedThroughATree) {
  put("one");
  const auto tree = tree_of({{.path = "a", .sha256 = one_}});
  const auto root = make(tree);
  stdfs::resize_file(root / "a", 2);  // The same file as the blob.
  EXPECT_THAT(storage_->make_tree(tree)->missing, ElementsAre(one_));
  put("one");
  EXPECT_EQ(read_file(make(tree) / "a").value(), "one");
}

TEST_F(AgentStorageTest, RefusesATreeOfNoBlobs) {
  const auto refused = storage_->make_tree(tree_of({{.path = "a", .sha256 = "../b"}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace assay
