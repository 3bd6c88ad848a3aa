#include "assay/base/subprocess.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/fs.h"
#include "assay/base/output.h"
#include "assay/base/result.h"

namespace {

bool is_parent_lost = false;

}  // namespace

/// Stands in for the one of libc: a child that is forked now sees another parent than it was forked
/// by, as if that had died in between.
extern "C" int getppid() noexcept {
  constexpr int kInit = 1;
  return is_parent_lost ? kInit : static_cast<int>(::syscall(SYS_getppid));
}

namespace assay {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr auto kLong = std::chrono::seconds(60);

TEST(Subprocess, StartsInAFolderWithItsOwnVariablesAndNiceness) {
  const auto folder = TemporaryFolder::make("assay-subprocess").value();
  const auto file = (folder.path() / "words").string();
  const auto run = [&](const std::string& script) {
    return run_command({.argv = {"/bin/sh", "-c", script},
                        .env = {{"ONLY", "this"}},
                        .stderr_file = file,
                        .stdout_file = file,
                        .folder = folder.path().string(),
                        .has_only_env = true,
                        .niceness = 3},
                       kLong);
  };
  const int own = ::getpriority(PRIO_PROCESS, 0);
  EXPECT_EQ(run("pwd; /usr/bin/env | /bin/grep -E '^(HOME|ONLY)='; echo last >&2; nice; exit 7")
                .value()
                .exit_code,
            7);
  EXPECT_EQ(read_file(file).value(),
            folder.path().string() + "\nONLY=this\nlast\n" + std::to_string(own + 3) + "\n");
}

TEST(Subprocess, ReadsAFileAsItsStdin) {
  const auto folder = TemporaryFolder::make("assay-subprocess").value();
  const auto file = folder.path() / "input";
  ASSERT_TRUE(write_file_atomically(file, "two\nlines\n").has_value());
  EXPECT_EQ(run_command({.argv = {"cat"}, .stdin_file = file.string()}, kLong).value().output,
            "two\nlines\n");
  const auto missing =
      run_command({.argv = {"cat"}, .stdin_file = (folder.path() / "none").string()}, kLong);
  EXPECT_EQ(missing.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(missing.error().message, HasSubstr("none"));
}

TEST(Subprocess, HasItsStreamsWhereOursAreClosed) {
  constexpr int kAbove = 10;
  const FileDescriptor own(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, kAbove));
  ::close(STDIN_FILENO);
  auto cat = Subprocess::start({.argv = {"cat"}});  // Its pipe is the lowest descriptor, 0.
  ASSERT_TRUE(cat);
  EXPECT_TRUE(cat->write("one\n"));
  EXPECT_EQ(cat->read_line(kLong).value(), "one");
  cat->close_stdin();
  EXPECT_EQ(cat->wait(), 0);
  ::dup2(own.get(), STDIN_FILENO);
}

TEST(Subprocess, KeepsItsSignalWhenItIsMoved) {
  auto ended = Subprocess::start({.argv = {"sh", "-c", "kill -9 $$"}});
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->wait(), 128 + SIGKILL);
  const auto moved = *std::move(ended);
  EXPECT_EQ(moved.signal(), SIGKILL);
}

TEST(Subprocess, EndsTheWholeGroup) {
  const auto folder = TemporaryFolder::make("assay-subprocess").value();
  const auto lock = folder.path() / "lock";
  // A shell that leaves a child behind; both hold the lock.
  FileDescriptor held(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  auto process = Subprocess::start({.argv = {"sh", "-c", "sleep 1000 & exit 0"},
                                    .env = {},
                                    .stderr_file = "",
                                    .leads_group = true,
                                    .kept = {held.get()}})
                     .value();
  held.close();
  EXPECT_TRUE(process.has_ended(kLong));
  const FileDescriptor other(::open(lock.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_NE(::flock(other.get(), LOCK_EX | LOCK_NB), 0) << "what it left behind holds the lock";
  process.kill_group(SIGKILL);
  EXPECT_EQ(::flock(other.get(), LOCK_EX), 0);
  EXPECT_EQ(process.wait(), 0);
}

TEST(Subprocess, GivesTheChildTheDefaultsOfSignals) {
  ignore_signals_of_writes();
  const auto output =
      run_command({.argv = {"sh", "-c", "grep SigIgn /proc/$$/status"}}, kLong).value().output;
  const auto ignored =
      std::stoull(output.substr(output.find_first_of("0123456789abcdef", 7)), nullptr, 16);
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    EXPECT_EQ(ignored >> (signal - 1) & 1U, 0U) << output;
  }
}

TEST(Subprocess, ExecutesNothingOnceItsParentIsGone) {
  const auto folder = TemporaryFolder::make("assay-test").value();
  const auto mark = folder.path() / "executed";
  is_parent_lost = true;
  const auto output = run_command({.argv = {"touch", mark.string()}}, kLong);
  is_parent_lost = false;
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->exit_code, 127);
  EXPECT_FALSE(std::filesystem::exists(mark));
  EXPECT_EQ(run_command({.argv = {"touch", mark.string()}}, kLong)->exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(mark));
}

TEST(Subprocess, TellsTheSignalThatEndedItsChild) {
  const auto killed = run_command({.argv = {"sh", "-c", "kill -TERM $$"}}, kLong).value();
  EXPECT_EQ(killed.signal, SIGTERM);
  EXPECT_EQ(killed.exit_code, 128 + SIGTERM);
  const auto exited = run_command({.argv = {"sh", "-c", "exit 143"}}, kLong).value();
  EXPECT_EQ(exited.signal, 0) << "a code that only looks like one";
}

TEST(Subprocess, IsEndedAtItsDeadlineWhateverItDidWithItsOutput) {
  const auto start = std::chrono::steady_clock::now();
  const auto ran = run_command({.argv = {"sh", "-c", "exec >&- 2>&-; exec sleep 60"}},
                               std::chrono::milliseconds(300));
  const auto took = std::chrono::steady_clock::now() - start;
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, ErrorCode::kTimeout) << ran.error().message;
  EXPECT_GE(took, std::chrono::milliseconds(300));
  EXPECT_LT(took, std::chrono::seconds(30));
}

TEST(Subprocess, RefusesALineThatDoesNotEnd) {
  auto child = Subprocess::start({.argv = {"sh", "-c", "tr '\\0' x < /dev/zero"}}).value();
  const auto line = child.read_line(kLong);
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(line.error().message, HasSubstr("does not end"));
}

TEST(Subprocess, RefusesOutputThatDoesNotEnd) {
  const auto output = run_command({.argv = {"yes", std::string(100'000, 'x')}}, kLong);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().code, ErrorCode::kCorrupt);
}

TEST(Subprocess, WaitsForNoProcessThatItsChildLeftBehind) {
  // The one left behind holds stdout open; the last line has no end.
  const auto output =
      run_command({.argv = {"sh", "-c", "sleep 1000 & echo $!; printf done; exit 3"}}, kLong);
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->exit_code, 3);
  EXPECT_THAT(output->output, EndsWith("done\n"));
  ::kill(std::stoi(output->output), SIGKILL);
}

/// Lowers the limit of open files to those that are open, as long as it lives.
class NoFurtherFiles {
 public:
  NoFurtherFiles() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(next);
    rlimit lower = before_;
    lower.rlim_cur = static_cast<rlim_t>(next);
    ::setrlimit(RLIMIT_NOFILE, &lower);
  }
  NoFurtherFiles(const NoFurtherFiles&) = delete;
  NoFurtherFiles& operator=(const NoFurtherFiles&) = delete;
  ~NoFurtherFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

#ifndef __SANITIZE_ADDRESS__  // UndefinedBehaviorSanitizer, on with it, looks at types through a
                              // pipe.
TEST(Limits, AreNamedWhereTheyAreReached) {
  const NoFurtherFiles none;
  for (const auto& error :
       {Subprocess::start({.argv = {"true"}}).error(), read_file("/proc/self/status").error()}) {
    EXPECT_EQ(error.code, ErrorCode::kExhausted);
    EXPECT_THAT(error.message, HasSubstr("files (ulimit -n): raise that limit"));
  }
}
#endif

TEST(Output, OutlivesAReaderThatGoesAway) {
  const auto writes_after_its_reader = [] {
    ignore_signals_of_writes();
    int ends[2];
    _exit(::pipe(ends) == 0 && ::dup2(ends[1], STDOUT_FILENO) >= 0 &&
                  ::dup2(ends[1], STDERR_FILENO) >= 0 && ::close(ends[0]) == 0 &&
                  ::close(ends[1]) == 0
              ? (print_out("{}\n", "lost"), write_stderr("lost"), check_stdout() ? 0 : 3)
              : 99);
  };
  EXPECT_EXIT(writes_after_its_reader(), testing::ExitedWithCode(0), "");
}

TEST(Output, TellsThatTheDiskIsFull) {
  const auto writes_to_a_full_disk = [] {
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    ::dup2(full, STDOUT_FILENO);
    print_out("{}\n", "lost");
    const auto status = check_stdout();
    _exit(!status && status.error().code == ErrorCode::kExhausted ? 0 : 3);
  };
  EXPECT_EXIT(writes_to_a_full_disk(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace assay
