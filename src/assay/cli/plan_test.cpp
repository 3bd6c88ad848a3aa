// Tests of what a command says it would do, and of the files that it writes.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/output_file.h"
#include "assay/cli/plan_text.h"
#include "assay/cli/quick_spec.h"
#include "assay/cli/terminal.h"

namespace assay::cli {
namespace {

using testing::HasSubstr;

TEST(Plan, IsTheSameInTextAndJson) {
  const Plan plan{.cases = {{.key = "0123456789abcdef", .label = "net", .last_ns = 2'000'000},
                            {.key = "k", .label = "new", .place = "board", .last_ns = 0},
                            {.key = "k", .label = "far", .place = "queue"}},
                  .references = {{.label = "net", .engine = "e@1", .refusal = "not installed"}}};
  const auto text = text_from_plan(plan);
  EXPECT_THAT(text, testing::StartsWith("0123456789ab  net "));
  EXPECT_THAT(text, HasSubstr("last time 2 ms\n"));
  EXPECT_THAT(text, HasSubstr("new on board"));
  EXPECT_THAT(text, HasSubstr("never run\n"));
  EXPECT_THAT(text, HasSubstr("3 cases\nevaluated only: net on e@1: not installed\n"));
  const auto json = parse_json(json_from_plan(plan), "plan").value();
  EXPECT_EQ(json.at("cases").at(0).at("last_ns"), 2'000'000);
  EXPECT_EQ(json.at("cases").at(0).at("device"), Json());
  EXPECT_EQ(json.at("cases").at(1).at("last_ns"), Json());
  EXPECT_EQ(json.at("evaluated_only").at(0).at("refusal"), "not installed");
}

TEST(DryRun, RefusesFlagsOfReportsThatItWouldNotWrite) {
  CLI::App app;
  ReportFlags report;
  RunFlags run;
  report.declare(app);
  run.declare(app, {"console", "json"});
  EXPECT_NO_THROW(app.parse("--dry-run --format json"));
  EXPECT_NO_THROW(app.parse("--format md --out x.md"));
  EXPECT_NO_THROW(app.parse("--dry-run --report x.md")) << "a run would write it";
  for (const auto* line : {"--dry-run --out x.json", "--dry-run --format md"}) {
    EXPECT_THROW(app.parse(line), CLI::ValidationError) << line;
  }
}

TEST(QuickSpec, TakesNamesOfCoresApartAndNoListOfProcessors) {
  const QuickSpec names{.model = "net.onnx", .scenario = {"cores=big,little", "cores=0,2-3"}};
  EXPECT_EQ(names.document({"timing"}).value().at("scenario").at("cores"),
            (Json{"big", "little", "0,2-3"}));
}

/// No file of this process grows beyond so many bytes, as on a full disk.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, SIG_DFL);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit before_{};
};

TEST(OutputFile, KeepsTheEarlierReportWhereTheNewOneFindsNoRoom) {
  const auto folder = TemporaryFolder::make("output").value();
  const auto file = folder.path() / "report.md";
  ASSERT_TRUE(write_output_file(file, "the earlier report"));
  ASSERT_TRUE(check_output_file(file.string(), {}, "--report"));
  {
    const SmallDisk full(10);
    const auto written = write_output_file(file, "a report of more than ten bytes");
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().message, HasSubstr("report.md"));
  }
  EXPECT_EQ(read_file(file).value(), "the earlier report");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Terminal, DrawsNothingAgainWhereTheTerminalIsDumb) {
  const FileDescriptor controller(::posix_openpt(O_RDWR | O_NOCTTY));
  if (controller.get() < 0 || ::unlockpt(controller.get()) != 0) {
    GTEST_SKIP() << "there are no pseudo-terminals";
  }
  const FileDescriptor terminal(::open(::ptsname(controller.get()), O_RDWR | O_NOCTTY));
  ASSERT_GE(terminal.get(), 0);
  ::setenv("TERM", "xterm", 1);
  EXPECT_TRUE(can_redraw(terminal.get()));
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(can_redraw(terminal.get()));
  EXPECT_FALSE(has_colour(terminal.get()));
  ::unsetenv("TERM");
}

TEST(OutputFile, LeavesNothingBehindThatWasOnlyChecked) {
  const auto folder = TemporaryFolder::make("output").value();
  const auto file = folder.path() / "report.md";
  ASSERT_TRUE(check_output_file(file.string(), {}, "--report"));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(OutputFile, KeepsTheModeAndTheOwnerOfTheFile) {
  const auto folder = TemporaryFolder::make("output").value();
  const auto file = folder.path() / "report.md";
  ASSERT_TRUE(write_output_file(file, "first"));
  ASSERT_EQ(::chmod(file.c_str(), 0664), 0);
  const auto before = ::umask(0077);
  EXPECT_TRUE(write_output_file(file, "second"));
  ::umask(before);
  struct stat status = {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0664U);
  if (::chown(file.c_str(), 65534, 65534) == 0) {  // Root alone may.
    EXPECT_TRUE(write_output_file(file, "third"));
    ASSERT_EQ(::stat(file.c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, 65534U);
  }
}

TEST(OutputFile, WritesThroughALinkAndIntoADevice) {
  const auto folder = TemporaryFolder::make("output").value();
  const auto file = folder.path() / "report.md";
  const auto link = folder.path() / "latest.md";
  ASSERT_TRUE(write_output_file(file, "first"));
  std::filesystem::create_symlink(file, link);
  ASSERT_TRUE(write_output_file(link, "second"));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_file(file).value(), "second");
  std::filesystem::remove(file);
  ASSERT_TRUE(check_output_file(link.string(), {}, "--report"));
  EXPECT_TRUE(std::filesystem::is_symlink(link)) << "it leads nowhere, and stays";
  EXPECT_FALSE(std::filesystem::exists(file));
  ASSERT_TRUE(write_output_file(link, "third"));
  EXPECT_EQ(read_file(file).value(), "third");
  EXPECT_TRUE(write_output_file("/dev/null", "third"));
  EXPECT_FALSE(write_output_file("/dev/full", "fourth"));
}

}  // namespace
}  // namespace assay::cli
