#include "assay/supervise/agent.h"

#include <cstddef>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <span>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/device/environment.h"
#include "assay/record/run.h"
#include "assay/record/spawn.h"
#include "assay/supervise/blob_folder.h"
#include "assay/wire/agent_messages.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using wire::Frame;
using wire::MessageType;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

class AgentTest : public testing::Test {
 protected:
  void SetUp() override { ::setenv("ASSAY_RUNTIME_DIR", (folder_.path() / "run").c_str(), 1); }
  void TearDown() override { ::unsetenv("ASSAY_RUNTIME_DIR"); }
  Frame answer(Frame request) {
    request.request = 17;
    auto reply = agent_.answer(std::move(request));
    EXPECT_EQ(reply.request, 17U);
    return reply;
  }
  ErrorCode refusal_of(Frame request) {
    const auto reply = answer(std::move(request));
    EXPECT_EQ(reply.type, MessageType::kError);
    return wire::error_from_frame(reply).code;
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-agent").value();
  Agent agent_{folder_.path(), {}};
  const std::string sha256_ = sha256_hex("a program");
};

TEST_F(AgentTest, GreetsAndRefusesStrangers) {
  const auto reply =
      answer(wire::frame_of(MessageType::kHello, 0, wire::Hello{.program = "assay"}));
  const auto hello = wire::body_of<wire::Hello>(reply);
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->program, "assay-agent");
  EXPECT_FALSE(hello->version.empty());
  const wire::Hello future{.protocol_min = 77, .protocol_max = 78};
  EXPECT_EQ(refusal_of(wire::frame_of(MessageType::kHello, 0, future)), ErrorCode::kUnsupported);
}

TEST_F(AgentTest, KeepsBlobsByTheirDigest) {
  const Json body = {{"sha256", sha256_}};
  EXPECT_EQ(answer({.type = MessageType::kHas, .body = body}).body["has"], false);
  const auto put = answer({.type = MessageType::kPut, .body = body, .blob = bytes_of("a program")});
  const std::string path = put.body.value("path", "");
  EXPECT_EQ(read_file(path).value(), "a program");
  const auto has = answer({.type = MessageType::kHas, .body = body});
  EXPECT_EQ(has.body["has"], true);
  EXPECT_EQ(has.body["path"], path);
}

TEST_F(AgentTest, RefusesABlobOfAnotherDigest) {
  const Json body = {{"sha256", sha256_}};
  EXPECT_EQ(refusal_of({.type = MessageType::kPut, .body = body, .blob = bytes_of("a programme")}),
            ErrorCode::kCorrupt);
  EXPECT_EQ(answer({.type = MessageType::kHas, .body = body}).body["has"], false);
}

TEST_F(AgentTest, TakesABlobInParts) {
  const Json first = {{"sha256", sha256_}, {"total_bytes", 9}};
  const Json second = {{"sha256", sha256_}, {"total_bytes", 9}, {"offset", 4}};
  const auto part = answer({.type = MessageType::kPut, .body = first, .blob = bytes_of("a pr")});
  EXPECT_EQ(part.body.value("path", "none"), "");
  EXPECT_EQ(answer({.type = MessageType::kHas, .body = first}).body["has"], false);
  const auto put = answer({.type = MessageType::kPut, .body = second, .blob = bytes_of("ogram")});
  EXPECT_EQ(read_file(put.body.value("path", "")).value(), "a program");
}

TEST_F(AgentTest, MakesATreeOrTellsWhatIsMissing) {
  wire::Tree tree{.files = {{.path = "bin/tool", .sha256 = sha256_, .is_executable = true}}};
  tree.digest = wire::digest_of_tree(tree.files);
  const auto request = wire::frame_of(MessageType::kTree, 0, tree);
  EXPECT_EQ(wire::body_of<wire::TreeReply>(answer(request))->missing, std::vector{sha256_});
  answer({.type = MessageType::kPut, .body = {{"sha256", sha256_}}, .blob = bytes_of("a program")});
  const auto reply = wire::body_of<wire::TreeReply>(answer(request));
  EXPECT_EQ(read_file(reply->path + "/bin/tool").value(), "a program");
  EXPECT_EQ(refusal_of({.type = MessageType::kTree}), ErrorCode::kInvalidArgument);
}

TEST_F(AgentTest, RefusesDigestsThatAreNone) {
  for (const auto& digest : {Json("../../etc/passwd"), Json(""), Json(7), Json(nullptr),
                             Json(std::string(64, 'G')), Json(std::string(63, 'a'))}) {
    const Json body = {{"sha256", digest}};
    EXPECT_EQ(refusal_of({.type = MessageType::kHas, .body = body}), ErrorCode::kInvalidArgument);
    EXPECT_EQ(refusal_of({.type = MessageType::kPut, .body = body}), ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(refusal_of({.type = MessageType::kHas}), ErrorCode::kInvalidArgument);
}

TEST_F(AgentTest, RunsAProgram) {
  auto request = wire::frame_of(MessageType::kSpawn, 0, SpawnRequest{.argv = {"/bin/cat"}});
  request.blob = bytes_of("hello");
  const auto reply = answer(std::move(request));
  EXPECT_EQ(reply.type, MessageType::kSpawn);
  EXPECT_EQ(reply.blob, bytes_of("hello"));
  const auto result = wire::body_of<SpawnResult>(reply);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->end.exit_code, 0);
  EXPECT_TRUE(result->after.total_ticks);
}

TEST_F(AgentTest, AnswersWithTheErrorOfAStart) {
  const SpawnRequest missing{.argv = {"/no/such/program"}};
  EXPECT_EQ(refusal_of(wire::frame_of(MessageType::kSpawn, 0, missing)), ErrorCode::kNotFound);
  EXPECT_EQ(refusal_of({.type = MessageType::kSpawn, .body = {{"argv", 3}}}), ErrorCode::kCorrupt);
}

TEST_F(AgentTest, ChangesSettingsOnlyOfADeviceThatItHas) {
  const auto request = wire::frame_of(MessageType::kPolicy, 0, wire::Policy{});
  EXPECT_EQ(refusal_of(request), ErrorCode::kInvalidArgument);
  const auto locked = answer(wire::frame_of(MessageType::kLock, 0, wire::Lock{.holder = "ann"}));
  EXPECT_EQ(wire::body_of<wire::LockReply>(locked)->restored, "");
  EXPECT_THAT(wire::body_of<wire::PolicyReply>(answer(request))->clocks, IsEmpty());
  const wire::Policy unknown{.frequency = "fast"};
  EXPECT_EQ(refusal_of(wire::frame_of(MessageType::kPolicy, 0, unknown)),
            ErrorCode::kInvalidArgument);
}

TEST_F(AgentTest, TellsItsConditions) {
  const auto conditions = wire::body_of<Conditions>(answer({.type = MessageType::kConditions}));
  ASSERT_TRUE(conditions);
  EXPECT_GT(conditions->unix_ns, 0);
}

TEST_F(AgentTest, DescribesItsMachine) {
  const auto environment = wire::body_of<Environment>(answer({.type = MessageType::kEnvironment}));
  ASSERT_TRUE(environment);
  EXPECT_EQ(environment->id, read_environment().id);
  EXPECT_FALSE(environment->device_class.empty());
}

TEST_F(AgentTest, RefusesWhatItDoesNotKnow) {
  const auto reply = answer({.type = MessageType::kLoad});
  EXPECT_EQ(wire::error_from_frame(reply).code, ErrorCode::kUnsupported);
  EXPECT_THAT(wire::error_from_frame(reply).message,
              AllOf(HasSubstr("'load' (type 16)"), HasSubstr("spawn, conditions, environment")));
  EXPECT_EQ(refusal_of({.type = static_cast<MessageType>(999)}), ErrorCode::kUnsupported);
}

TEST(BlobFolder, IsWhereTheVariableSays) {
  ::setenv("ASSAY_AGENT_HOME", "/data/local/tmp/assay", 1);
  EXPECT_EQ(default_blob_folder(), "/data/local/tmp/assay/blobs");
  ::unsetenv("ASSAY_AGENT_HOME");
  EXPECT_THAT(default_blob_folder().string(), HasSubstr("assay-agent/blobs"));
}

}  // namespace
}  // namespace assay
