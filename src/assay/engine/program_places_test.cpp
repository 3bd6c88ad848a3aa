#include "assay/engine/program_places.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/result.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class ProgramPlaces : public testing::Test {
 protected:
  Result<std::map<std::string, std::string>> read_with(const std::string& document) {
    EXPECT_TRUE(write_file_atomically(places_file_of(program_), document));
    return read_program_places(program_);
  }

  TemporaryFolder folder_ = TemporaryFolder::make("places").value();
  std::filesystem::path program_ = folder_.path() / "net.command.json";
};

TEST_F(ProgramPlaces, StandBesideTheProgram) {
  EXPECT_THAT(read_program_places(program_).value(), IsEmpty());
  EXPECT_EQ(places_file_of(program_), folder_.path() / "net.command.places.json");
  EXPECT_THAT(read_with(R"({"graph": "/models/a"})").value(),
              ElementsAre(Pair("graph", "/models/a")));
  EXPECT_THAT(read_program_places(folder_.path() / "net.pte").value(), IsEmpty());
}

TEST_F(ProgramPlaces, AreAbsolutePathsByName) {
  for (const auto* bad : {R"({"graph": "models/a"})", R"({"graph": 5})", "[]"}) {
    const auto places = read_with(bad);
    ASSERT_FALSE(places) << bad;
    EXPECT_EQ(places.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(places.error().message, HasSubstr("net.command.places.json"));
  }
  EXPECT_FALSE(read_with("{"));
}

}  // namespace
}  // namespace assay
