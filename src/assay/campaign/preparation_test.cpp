#include "assay/campaign/preparation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/fs.h"
#include "assay/record/subject.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

/// The subject of a case that has a companion command.
std::string subject_beside(const std::string& program) {
  const auto store = make_memory_store();
  PreparedCase prepared{.cell = {.scenario = {{"beside", program}}},
                        .build = {.name = "fake", .label = "1"},
                        .artifact = Artifact{.key = "1", .folder = "/cache/1", .entry = "net.pte"}};
  EXPECT_TRUE(store_prepared(*store, "run", prepared));
  return prepared.subject_digest;
}

TEST(StorePrepared, TellsWhichRunUsesAReference) {
  const auto store = make_memory_store();
  const Reference reference{.key = "1", .kind = "float", .folder = "/cache/1"};
  PreparedCase prepared{.build = {.name = "fake", .label = "1"},
                        .references = {{"float", reference}}};
  for (const auto* run : {"run-1", "run-2", "run-1"}) {
    ASSERT_TRUE(store_prepared(*store, run, prepared));
  }
  EXPECT_TRUE(store->get_reference(reference.id()));
  const auto uses = store->attachments_of(reference.id()).value();
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].kind, "run-1");
  EXPECT_EQ(uses[1].kind, "run-2");
}

TEST(StorePrepared, TellsWhichExecutableRanBeside) {
  const auto folder = TemporaryFolder::make("assay-test").value();
  const auto program = (folder.path() / "net.command.json").string();
  ASSERT_TRUE(write_file_atomically(program, R"({"argv": ["./load"]})"));
  ASSERT_TRUE(write_file_atomically(folder.path() / "load", "one", 0755));
  const auto before = subject_beside(program);
  EXPECT_EQ(subject_beside(program), before);
  ASSERT_TRUE(write_file_atomically(folder.path() / "load", "another", 0755));
  EXPECT_NE(subject_beside(program), before);
}

}  // namespace
}  // namespace assay
