#include "assay/allocation/counting_malloc.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/wire/runner_environment.h"

namespace assay {
namespace {

/// Allocated before main: freed later, it must not make the balance negative.
const auto kEarly = std::make_unique<std::vector<char>>(200'000);

/// Hides a block from the compiler, which may otherwise drop a malloc with its free.
void* seen(void* block) {
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

std::int64_t live_now() { return read_allocation_counts().value_or(AllocationCounts{}).live_bytes; }

/// Counts the bytes that `work` leaves allocated.
std::int64_t left_by(const std::function<void()>& work) {
  const auto before = live_now();
  work();
  return live_now() - before;
}

const std::string kSwitch(wire::kCountAllocations);

/// Counting is decided when a process starts: this one starts again, with it.
[[gnu::constructor]] void start_again(int /*argc*/, char** argv, char** /*environment*/) {
  constexpr const char* kVariable = "ASSAY_COUNT_ALLOCATIONS";
  if (std::getenv(kVariable) == nullptr) {
    ::setenv(kVariable, "1", 1);
    ::execv("/proc/self/exe", argv);
  }
}

class CountingMalloc : public testing::Test {
 protected:
  void SetUp() override {
    if (!read_allocation_counts()) {
      GTEST_SKIP() << allocation_counting_unavailable();
    }
  }
};

TEST_F(CountingMalloc, IsOffWhereItIsNotAskedFor) {
  char path[4096] = {};
  ASSERT_GT(::readlink("/proc/self/exe", path, sizeof path - 1), 0);
  const auto command = kSwitch + "=0 '" + path + "' --gtest_filter=CountingMallocOff.* >&2";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

TEST(CountingMallocOff, SaysHowItIsSwitchedOn) {
  const char* const wanted = std::getenv(kSwitch.c_str());
  if (wanted != nullptr && std::string(wanted) == "1") {
    EXPECT_EQ(read_allocation_counts().has_value(), allocation_counting_unavailable().empty());
    return;
  }
  EXPECT_FALSE(read_allocation_counts());
  EXPECT_NE(allocation_counting_unavailable(), "");
  EXPECT_TRUE(read_large_blocks().empty());
}

TEST_F(CountingMalloc, BalancesEveryWayToAllocate) {
  constexpr std::size_t kBytes = 1000;
  const std::vector<std::function<void*()>> ways = {
      [] { return std::malloc(kBytes); },
      [] { return std::calloc(10, kBytes / 10); },
      [] { return std::realloc(nullptr, kBytes); },
      [] { return ::reallocarray(nullptr, 10, kBytes / 10); },
      [] { return std::aligned_alloc(64, 1024); },
      [] { return ::memalign(4096, kBytes); },
      [] { return ::valloc(kBytes); },
      [] { return ::pvalloc(kBytes); },
      [] {
        void* block = nullptr;
        return ::posix_memalign(&block, 256, kBytes) == 0 ? block : nullptr;
      },
      [] { return static_cast<void*>(::strdup(std::string(kBytes, 'x').c_str())); },
  };
  for (const auto& way : ways) {
    void* block = nullptr;
    const auto held = left_by([&] { block = seen(way()); });
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(held, static_cast<std::int64_t>(::malloc_usable_size(block)));
    EXPECT_EQ(left_by([&] { std::free(block); }), -held);
  }
}

TEST_F(CountingMalloc, BalancesOperatorNew) {
  struct alignas(128) Wide {
    char bytes[300];
  };
  EXPECT_GE(left_by([] { seen(new char[500]); }), 500);  // Lost on purpose.
  EXPECT_EQ(left_by([] {
              delete[] static_cast<char*>(seen(new char[500]));
              delete static_cast<Wide*>(seen(new Wide));
              const std::vector<std::string> strings(50, std::string(100, 'x'));
            }),
            0);
}

TEST_F(CountingMalloc, FollowsABlockThatMoves) {
  void* block = std::malloc(100);
  const auto grown = left_by([&] { block = seen(std::realloc(block, 300'000)); });
  ASSERT_NE(block, nullptr);
  EXPECT_NEAR(static_cast<double>(grown), 299'900, 5000);
  EXPECT_EQ(left_by([&] {
              // A block that cannot grow stays.
              volatile auto most = std::numeric_limits<std::ptrdiff_t>::max();
              EXPECT_EQ(std::realloc(block, static_cast<std::size_t>(most)), nullptr);
            }),
            0);
  EXPECT_LT(left_by([&] { block = seen(std::realloc(block, 50)); }), -290'000);
  EXPECT_LT(left_by([&] { std::free(block); }), 0);
}

TEST_F(CountingMalloc, RefusesWhatTheCLibraryRefuses) {
  void* block = nullptr;
  EXPECT_EQ(::posix_memalign(&block, 3, 100), EINVAL);
  EXPECT_EQ(block, nullptr);
  volatile auto most = std::numeric_limits<std::size_t>::max();
  errno = 0;
  EXPECT_EQ(::reallocarray(nullptr, most, 16), nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

TEST_F(CountingMalloc, BalancesWhatWasAllocatedBeforeMain) {
  EXPECT_EQ(kEarly->size(), 200'000U);
  EXPECT_GE(live_now(), 200'000);
}

TEST_F(CountingMalloc, KeepsTheirPeakAndTheirNumber) {
  const auto before = *read_allocation_counts();
  std::free(seen(std::malloc(10'000'000)));
  const auto after = *read_allocation_counts();
  EXPECT_GE(after.peak_live_bytes, before.live_bytes + 10'000'000);
  EXPECT_EQ(after.live_bytes, before.live_bytes);
  EXPECT_EQ(after.count, before.count + 1);
  EXPECT_GE(after.total_bytes, before.total_bytes + 10'000'000);
}

TEST_F(CountingMalloc, KnowsWhereLargeBlocksLie) {
  void* const block = seen(std::malloc(1 << 20));
  const auto find = [block] {
    const auto blocks = read_large_blocks();
    return std::ranges::count(blocks, reinterpret_cast<std::uintptr_t>(block),
                              &MallocBlock::address);
  };
  EXPECT_EQ(find(), 1);
  std::free(block);
  EXPECT_EQ(find(), 0);
}

TEST_F(CountingMalloc, BalancesOverThreads) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20'000;
  const auto churn = [] {
    std::vector<void*> blocks(64, nullptr);
    for (int i = 0; i < kRounds; ++i) {
      auto& block = blocks[static_cast<std::size_t>(i) % blocks.size()];
      block = seen(std::realloc(block, static_cast<std::size_t>(i * 37 % 90'000 + 1)));
    }
    std::ranges::for_each(blocks, std::free);
  };
  std::thread(churn).join();  // Arenas and what threads keep are there from now on.
  const auto before = *read_allocation_counts();
  const auto left = left_by([&] {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back(churn);
    }
    std::ranges::for_each(threads, [](std::thread& thread) { thread.join(); });
  });
  EXPECT_GE(read_allocation_counts()->count - before.count, kThreads * kRounds);
  // The library keeps the control blocks of ended threads for the next ones.
  EXPECT_LT(std::abs(left), 10'000);
}

TEST_F(CountingMalloc, WorksInAChildBeforeExec) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::free(seen(std::malloc(1 << 20)));
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace assay
