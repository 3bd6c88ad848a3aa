#include "assay/supervise/usage_watch.h"

#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/supervise/process_tree.h"

namespace assay {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

/// A child that waits with what this process had at its start.
class Waiting {
 public:
  Waiting() : pid_(::fork()) {
    if (pid_ == 0) {
      ::pause();
      ::_exit(0);
    }
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(UsageWatch, CountsPagesOnceThatProcessesShare) {
  const std::vector<char> large(100 * kMebibyte, 'x');
  const Waiting child;
  const std::vector<pid_t> roots{::getpid()};
  ASSERT_GT(resident_bytes_of_trees(roots), 200 * kMebibyte);
  if (shared_bytes_of_trees(roots) == resident_bytes_of_trees(roots)) {
    GTEST_SKIP() << "this kernel does not tell the shares of a process";
  }
  UsageWatch watch;
  EXPECT_FALSE(watch.exceeds(roots, 190 * kMebibyte));
  EXPECT_FALSE(watch.exceeds(roots, 190 * kMebibyte)) << "without counting again";
  EXPECT_LT(watch.peak_bytes(), 190 * kMebibyte);
  EXPECT_TRUE(watch.exceeds(roots, 50 * kMebibyte));
  EXPECT_GT(watch.peak_bytes(), 100 * kMebibyte);
  EXPECT_EQ(large.back(), 'x');
}

TEST(UsageWatch, CountsTimeOfAllProcesses) {
  UsageWatch watch;
  watch.look({::getpid()});
  EXPECT_GT(watch.peak_bytes(), 0);
  EXPECT_GE(watch.user_ns() + watch.system_ns(), 0);
}

TEST(ProcessTree, FindsChildrenByTheirParentToo) {
  const Waiting child;
  EXPECT_THAT(children_by_parent(::getpid()), testing::Contains(child.pid()));
  if (lists_children()) {
    EXPECT_EQ(children_by_parent(::getpid()), children_of_process(::getpid()));
  }
  EXPECT_THAT(children_by_parent(child.pid()), testing::IsEmpty());
}

}  // namespace
}  // namespace assay
