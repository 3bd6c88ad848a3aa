#include "assay/cli/manual.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace assay::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ManualPage, HasEachListedVerbWithItsFlags) {
  CLI::App app("Measures.", "assay");
  auto* engine = app.add_subcommand("engine", "Add engines");
  engine->require_subcommand(1);
  int threads = 2;
  std::string name;
  auto* add = engine->add_subcommand("add", "Add one");
  add->add_option("name", name, "Name of it")->required();
  add->add_option("-t,--threads", threads, "Threads")->type_name("N")->capture_default_str();
  app.add_subcommand("secret", "Not for people")->group("");
  const auto page = manual_page(app, "/my-home");
  EXPECT_THAT(page, HasSubstr(".SS assay engine add\nAdd one.\n"));
  EXPECT_THAT(page, HasSubstr("\\fBassay engine add\\fR [\\fIOPTIONS\\fR] \\fIname\\fR\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\-t\\fR, \\fB\\-\\-threads\\fR \\fIN\\fR\n"
                              "Threads [default: 2]\n"));
  EXPECT_THAT(page, Not(HasSubstr(".SS assay engine\n"))) << "it does nothing without a verb";
  EXPECT_THAT(page, Not(HasSubstr("secret")));
}

TEST(ManualPage, HasTheDefaultHomeAndNotThatOfTheBuild) {
  CLI::App app("Measures.", "assay");
  std::string store;
  app.add_subcommand("runs", "")->add_option("--store", store, "[default: /my-home/assay.db]");
  EXPECT_THAT(manual_page(app, "/my-home"), HasSubstr("[default: ~/.local/share/assay/assay.db]"));
}

TEST(ManualPage, EscapesWhatRoffWouldTakeForARequest) {
  CLI::App app(".so file\n'x \\n", "assay");
  EXPECT_THAT(manual_page(app, "/my-home"), HasSubstr("\n\\&.so file\n\\&'x \\en\n"));
}

}  // namespace
}  // namespace assay::cli
