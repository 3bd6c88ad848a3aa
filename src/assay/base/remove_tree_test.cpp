#include "assay/base/remove_tree.h"

#include <array>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "assay/base/fs.h"

namespace assay {
namespace {

namespace stdfs = std::filesystem;

/// Takes the powers of root from this thread, as an ordinary user has none.
class WithoutPowers {
 public:
  WithoutPowers() {
    ::syscall(SYS_capget, &header_, before_.data());
    auto less = before_;
    for (auto& set : less) {
      set.effective = 0;
    }
    ::syscall(SYS_capset, &header_, less.data());
  }
  WithoutPowers(const WithoutPowers&) = delete;
  WithoutPowers& operator=(const WithoutPowers&) = delete;
  ~WithoutPowers() { ::syscall(SYS_capset, &header_, before_.data()); }

 private:
  __user_cap_header_struct header_{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> before_{};
};

/// Makes folders that cannot be written to, like the module cache of Go.
TEST(RemoveTree, RemovesFoldersThatMayOnlyBeRead) {
  const auto folder = TemporaryFolder::make("assay-remove").value();
  const auto cache = folder.path() / "cache";
  ASSERT_TRUE(write_file_atomically(cache / "module/deep/file", "x"));
  for (const auto& one : {cache / "module/deep", cache / "module"}) {
    stdfs::permissions(one, stdfs::perms::owner_read | stdfs::perms::owner_exec);
  }
  const WithoutPowers ordinary;
  const auto removed = remove_tree(cache);
  EXPECT_TRUE(removed.has_value()) << removed.error().message;
  EXPECT_FALSE(stdfs::exists(cache));
}

TEST(RemoveTree, FollowsNoLink) {
  const auto folder = TemporaryFolder::make("assay-remove").value();
  ASSERT_TRUE(write_file_atomically(folder.path() / "kept/file", "x"));
  ASSERT_TRUE(write_file_atomically(folder.path() / "tree/file", "x"));
  stdfs::create_directory_symlink(folder.path() / "kept", folder.path() / "tree/link");
  stdfs::permissions(folder.path() / "kept", stdfs::perms::owner_read | stdfs::perms::owner_exec);
  make_folders_writable(folder.path() / "tree");
  EXPECT_EQ(stdfs::status(folder.path() / "kept").permissions() & stdfs::perms::owner_write,
            stdfs::perms::none);
  EXPECT_TRUE(remove_tree(folder.path() / "tree").has_value());
  EXPECT_TRUE(stdfs::exists(folder.path() / "kept/file"));
  EXPECT_TRUE(remove_tree(folder.path() / "tree").has_value()) << "nothing is there";
}

}  // namespace
}  // namespace assay
