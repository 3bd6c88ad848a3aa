#include "assay/engines/openvino/program_files.h"

#include <cstdint>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "assay/base/fs.h"

namespace assay::openvino {
namespace {

using testing::HasSubstr;

constexpr const char* kXml =
    R"(<?xml version="1.0"?><net name="m" version="11"><layers>
<layer type="Const"><data element_type="f32" shape="3" offset="0" size="12"/></layer>
<layer type="Const"><data element_type="f32" shape="2" offset="12" size="8"/></layer>
</layers></net>)";

class OpenvinoFiles : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& bytes) {
    auto path = folder_.path() / name;
    EXPECT_TRUE(write_file_atomically(path, bytes));
    return path;
  }
  Error error_of(const std::filesystem::path& entry) {
    return find_program_files({.entry = entry}).error();
  }

  TemporaryFolder folder_ = TemporaryFolder::make("files").value();
};

TEST_F(OpenvinoFiles, FindsTheWeightsBesideOrAmongTheData) {
  const auto xml = write("m.xml", kXml);
  const auto elsewhere = write("w.bin", std::string(20, 'x'));
  EXPECT_EQ(find_program_files({.entry = xml, .data = {elsewhere}}).value().weights, elsewhere);
  const auto beside = write("m.bin", std::string(20, 'x'));
  EXPECT_EQ(find_program_files({.entry = xml}).value().weights, beside);
}

TEST_F(OpenvinoFiles, TellsMissingAndShortWeights) {
  const auto xml = write("m.xml", kXml);
  EXPECT_EQ(error_of(xml).code, ErrorCode::kNotFound);
  write("m.bin", std::string(19, 'x'));
  EXPECT_EQ(error_of(xml).code, ErrorCode::kCorrupt);
  EXPECT_THAT(error_of(xml).message, HasSubstr("19 bytes of 20"));
}

TEST_F(OpenvinoFiles, NeedsNoWeightsWithoutConstants) {
  const auto xml = write("m.xml", "<net></net>");
  EXPECT_TRUE(find_program_files({.entry = xml}).value().weights.empty());
}

TEST_F(OpenvinoFiles, TellsDamagedAndForeignFiles) {
  EXPECT_EQ(error_of("/none.xml").code, ErrorCode::kNotFound);
  EXPECT_EQ(error_of(write("empty.onnx", "")).code, ErrorCode::kCorrupt);
  EXPECT_THAT(error_of(write("cut.xml", "<net><layers>")).message, HasSubstr("lacks </net>"));
  EXPECT_THAT(error_of(write("page.xml", "<html/>")).message, HasSubstr("lacks <net>"));
  EXPECT_EQ(error_of(write("m.tflite", "0123TFL9")).code, ErrorCode::kCorrupt);
  EXPECT_TRUE(find_program_files({.entry = write("m.tflite", "0123TFL3")}));
  EXPECT_EQ(error_of(write("m.pte", "x")).code, ErrorCode::kInvalidArgument);
}

TEST_F(OpenvinoFiles, AreLookedAtAndNotReadBeforeTheLoadIsTimed) {
  // A hole of 64 GiB is more than anybody reads.
  const auto path = write("m.tflite", "0123TFL3");
  std::filesystem::resize_file(path, std::uintmax_t{1} << 36);
  EXPECT_TRUE(find_program_files({.entry = path}));
}

}  // namespace
}  // namespace assay::openvino
