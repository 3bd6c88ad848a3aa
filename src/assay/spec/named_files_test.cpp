#include "assay/spec/named_files.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "assay/base/fs.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class NamedFilesOfCommands : public testing::Test {
 protected:
  /// Returns where it lies.
  std::filesystem::path put(const std::string& name, const std::string& content) const {
    const auto path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    EXPECT_TRUE(write_file_atomically(path, content));
    return path;
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-test").value();
};

TEST_F(NamedFilesOfCommands, AreExecutablesFilesAndPlaces) {
  const auto far = put("elsewhere/graph.bin", "graph");
  const auto tool = put("elsewhere/tool", "tool");
  put("p/bench", "executable");
  put("p/data/net.bin", "net");
  put("p/net.command.places.json", "{\"graph\": \"" + far.string() + "\"}");
  const auto program =
      put("p/net.command.json",
          R"({"steps": [["./bench", "--net={folder}/data/net.bin", "-n", "{iterations}"],)"
          R"( ["python3", "{place:graph}", "--tool=)" +
              tool.string() + R"(", "{build:x}/bench", "./absent", "{folder}/absent"]]})");
  EXPECT_THAT(find_named_files(program),
              ElementsAre(far.string(), tool.string(), "bench", "data/net.bin"));
}

TEST_F(NamedFilesOfCommands, AreNotThoseThatItWritesAndThoseOfTheKernel) {
  const auto far = put("elsewhere/times.txt", "1 ms");
  put("p/bench", "executable");
  put("p/out.txt", "2 ms");
  std::filesystem::create_symlink("/proc/cpuinfo", folder_.path() / "p/cpus");
  const auto program =
      put("p/net.command.json",
          R"({"argv": ["./bench", "{folder}/out.txt", "--times=)" + far.string() +
              R"(", "/proc/cpuinfo", "{folder}/cpus"], "read_files": ["{folder}/./out.txt", ")" +
              far.string() + R"(", "{scratch:a}/b", 3]})");
  EXPECT_THAT(find_named_files(program), ElementsAre("bench"));
}

TEST_F(NamedFilesOfCommands, AreDigestedByTheirContents) {
  const auto text = R"({"argv": ["./bench.sh"]})";
  const auto one = put("old/net.command.json", text);
  const auto other = put("new/net.command.json", text);
  EXPECT_EQ(digest_named_files(one).value(), "") << "there is none yet";
  put("old/bench.sh", "echo 1.5 ms");
  put("new/bench.sh", "echo 1.5 ms");
  EXPECT_EQ(digest_named_files(one).value(), digest_named_files(other).value());
  put("new/bench.sh", "echo 2.5 ms");
  EXPECT_NE(digest_named_files(one).value(), digest_named_files(other).value());
}

TEST_F(NamedFilesOfCommands, AreNoneOfOtherProgramsAndOfDamagedOnes) {
  put("bench", "executable");
  EXPECT_THAT(find_named_files(put("net.onnx", "{\"argv\": [\"./bench\"]}")), IsEmpty());
  EXPECT_THAT(find_named_files(put("bad.command.json", "{\"argv\"")), IsEmpty());
  EXPECT_THAT(find_named_files(put("odd.command.json", "{\"argv\": [1], \"steps\": 2}")),
              IsEmpty());
  EXPECT_THAT(find_named_files(folder_.path() / "absent.command.json"), IsEmpty());
}

}  // namespace
}  // namespace assay
