#include "assay/spec/program_files.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/spec/onnx_files.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) {
    bytes += static_cast<char>((value & 0x7FU) | 0x80U);
  }
  return bytes + static_cast<char>(value);
}

/// A field of bytes, which a message or a text is.
std::string field(std::uint64_t number, std::string_view content) {
  return varint(number << 3U | 2U) + varint(content.size()) + std::string(content);
}

std::string number_field(std::uint64_t number, std::uint64_t value) {
  return varint(number << 3U) + varint(value);
}

/// A tensor whose bytes lie in that file.
std::string tensor_in(std::string_view file) {
  return number_field(1, 4) + number_field(2, 1) + field(8, "weight") +
         field(13, field(1, "offset") + field(2, "0")) +
         field(13, field(1, "location") + field(2, file)) + number_field(14, 1);
}

/// A model around this graph, with what else stands in one.
std::string onnx_model(std::string_view graph) {
  return number_field(1, 10) + field(2, "maker") + field(7, graph) + field(8, number_field(2, 20));
}

class ProgramFiles : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path put(const std::string& name,
                                          const std::string& content) const {
    const auto path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    EXPECT_TRUE(write_file_atomically(path, content));
    return path;
  }
  static std::vector<std::string> names_of(const std::filesystem::path& program) {
    std::vector<std::string> names;
    const auto files = find_program_files(program);
    EXPECT_TRUE(files) << files.error().message;
    for (const auto& file : files.value_or(std::vector<ProgramFile>())) {
      names.push_back(file.name + ":" + file.role);
    }
    return names;
  }

  TemporaryFolder folder_ = TemporaryFolder::make("program-files").value();
};

TEST_F(ProgramFiles, AreOneForAProgramThatIsWhole) {
  EXPECT_THAT(names_of(put("net.pte", "x")), ElementsAre("net.pte:program"));
  EXPECT_THAT(names_of(put("net.tflite", "x")), ElementsAre("net.tflite:program"));
  const auto whole = put("net.onnx", onnx_model(field(5, field(9, std::string(100'000, 'w')))));
  EXPECT_THAT(names_of(whole), ElementsAre("net.onnx:program"));
  EXPECT_EQ(digest_program(whole).value(), sha256_hex_of_file(whole).value());
}

TEST_F(ProgramFiles, AreAllThatAnOnnxGraphRefersTo) {
  const auto inner = field(5, tensor_in("inner.bin"));
  const auto branch = field(1, field(5, field(1, "then_branch") + field(6, inner)));
  const auto constant = field(1, field(5, field(5, tensor_in("sub/constant.bin"))));
  const auto list = field(1, field(5, field(10, tensor_in("list.bin")) + field(11, inner)));
  const auto sparse = field(15, field(1, tensor_in("values.bin")) + field(2, tensor_in("at.bin")));
  const auto program =
      put("net.onnx", onnx_model(field(5, tensor_in("w.data")) + field(5, tensor_in("w.data")) +
                                 branch + constant + list + sparse) +
                          field(25, field(7, field(5, field(5, tensor_in("function.bin"))))) +
                          field(20, field(1, field(5, tensor_in("training.bin")))));
  EXPECT_THAT(read_external_files(program),
              ElementsAre("w.data", "inner.bin", "sub/constant.bin", "list.bin", "values.bin",
                          "at.bin", "function.bin", "training.bin"));
}

TEST_F(ProgramFiles, AreKnownByAllTheirBytesAndNotByTheirPlace) {
  const auto model = onnx_model(field(5, tensor_in("w.data")));
  const auto a = put("a/net.onnx", model);
  const auto b = put("b/net.onnx", model);
  static_cast<void>(put("a/w.data", "1234"));
  static_cast<void>(put("b/w.data", "1234"));
  EXPECT_THAT(names_of(a), ElementsAre("net.onnx:program", "w.data:data"));
  EXPECT_EQ(digest_program(a).value(), digest_program(b).value());
  static_cast<void>(put("b/w.data", "1235"));
  EXPECT_NE(digest_program(a).value(), digest_program(b).value());
  EXPECT_NE(digest_program(a).value(), sha256_hex_of_file(a).value());
}

TEST_F(ProgramFiles, LieInTheProgramsFolder) {
  for (const auto* name : {"../w.data", "/tmp/w.data", "sub/../../w.data"}) {
    const auto found = find_program_files(put("net.onnx", onnx_model(field(5, tensor_in(name)))));
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(found.error().message, HasSubstr("outside of its folder"));
  }
  const auto absent = find_program_files(put("net.onnx", onnx_model(field(5, tensor_in("gone")))));
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(absent.error().message, HasSubstr("'gone', which is not beside it"));
}

TEST_F(ProgramFiles, OfADamagedModelAreThoseBeforeTheDamage) {
  const auto model = onnx_model(field(5, tensor_in("w.data")) + field(5, tensor_in("v.data")));
  for (std::size_t size = 0; size < model.size(); ++size) {
    const auto path = put("cut.onnx", model.substr(0, size));
    EXPECT_LE(read_external_files(path).size(), 2U);
  }
  EXPECT_THAT(read_external_files(put("text.onnx", "no model at all")), IsEmpty());
  EXPECT_THAT(read_external_files(folder_.path() / "none.onnx"), IsEmpty());
}

TEST_F(ProgramFiles, OfExecuTorchAreListedByAManifestOrNamedLikeIt) {
  const auto program = put("net.pte", "x");
  static_cast<void>(put("net.ptd", "weights"));
  EXPECT_THAT(names_of(program), ElementsAre("net.pte:program", "net.ptd:data"));
  static_cast<void>(put("extra.ptd", "weights"));
  static_cast<void>(put("manifest.json", R"({"entry": "net.pte", "files": [
      {"name": "net.pte", "role": "program"}, {"name": "extra.ptd", "role": "data"}]})"));
  EXPECT_THAT(names_of(program), ElementsAre("net.pte:program", "extra.ptd:data"));
  static_cast<void>(put("manifest.json", R"({"entry": "other.pte", "files": [
      {"name": "extra.ptd", "role": "data"}]})"));
  EXPECT_THAT(names_of(program), ElementsAre("net.pte:program", "net.ptd:data"));
}

TEST_F(ProgramFiles, OfOpenVinoAreTwo) {
  static_cast<void>(put("ir.bin", "weights"));
  EXPECT_THAT(names_of(put("ir.xml", "<net/>")), ElementsAre("ir.xml:program", "ir.bin:data"));
}

}  // namespace
}  // namespace assay
