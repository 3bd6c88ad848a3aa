#include "assay/wire/messages.h"

#include <cstddef>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/wire/frame.h"

namespace assay::wire {
namespace {

using testing::HasSubstr;

TEST(MessageBody, SurvivesTheRoundTrip) {
  Load load;
  load.entry = "/tmp/m.pte";
  load.data = {"/tmp/m.ptd"};
  load.options = {{"threads", 2}};
  const auto frame = frame_of(MessageType::kLoad, 3, load);
  EXPECT_EQ(frame.type, MessageType::kLoad);
  EXPECT_EQ(frame.request, 3U);
  const auto back = body_of<Load>(frame);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->entry, load.entry);
  EXPECT_EQ(back->data, load.data);
  EXPECT_EQ(back->options, load.options);
  EXPECT_EQ(back->method, "forward");
}

TEST(MessageBody, IgnoresUnknownFieldsAndDefaultsAbsentOnes) {
  const auto note = body_of<StageNote>({.body = {{"stage", "steady"}, {"mood", 3}}});
  ASSERT_TRUE(note);
  EXPECT_EQ(note->stage, Stage::kSteady);
  const auto infer = body_of<Infer>({.body = Json::object()});
  ASSERT_TRUE(infer);
  EXPECT_EQ(infer->repeat, 1);
}

TEST(ErrorBody, IsCutOnArrivalAndSaysSo) {
  const Error error{.code = ErrorCode::kEngine, .message = std::string(1 << 20, 'x')};
  const auto arrived = error_from_frame(error_frame(1, error, Stage::kLoad));
  EXPECT_EQ(arrived.code, ErrorCode::kEngine);
  EXPECT_LT(arrived.message.size(), 66'000U);
  EXPECT_THAT(arrived.message, HasSubstr("983040 more bytes were cut off"));
}

TEST(MessageBody, OfWrongTypesIsCorrupt) {
  const std::vector<Json> bodies = {{{"stage", 3}}, {{"stage", "noon"}}, {{"stage", nullptr}}};
  for (const auto& body : bodies) {
    const auto note = body_of<StageNote>({.body = body});
    ASSERT_FALSE(note) << body;
    EXPECT_EQ(note.error().code, ErrorCode::kCorrupt);
  }
  EXPECT_FALSE(body_of<Load>({.body = {{"data", "not a list"}}}));
  EXPECT_FALSE(body_of<Measure>({.body = {{"plan", {{"iterations", "ten"}}}}}));
  EXPECT_FALSE(body_of<Hello>({.body = Json::array({1})}));
}

TEST(ErrorFrame, CarriesTheError) {
  const Error error{.code = ErrorCode::kNotFound, .message = "no file 'x'"};
  const auto frame = error_frame(5, error, Stage::kLoad);
  EXPECT_EQ(frame.type, MessageType::kError);
  EXPECT_EQ(frame.request, 5U);
  EXPECT_EQ(body_of<ErrorBody>(frame)->stage, Stage::kLoad);
  const auto back = error_from_frame(frame);
  EXPECT_EQ(back.code, ErrorCode::kNotFound);
  EXPECT_EQ(back.message, "no file 'x'");
}

TEST(ErrorFrame, PutsTheEnginesCodeIntoTheText) {
  const ErrorBody body{.code = ErrorCode::kEngine, .engine_code = "0x20", .message = "failed"};
  const auto error = error_from_frame(frame_of(MessageType::kError, 1, body));
  EXPECT_THAT(error.message, HasSubstr("failed (the engine's code: 0x20)"));
}

TEST(ErrorFrame, ThatIsNoneOrMalformedIsCorrupt) {
  EXPECT_EQ(error_from_frame({.type = MessageType::kBye}).code, ErrorCode::kCorrupt);
  const auto malformed =
      error_from_frame({.type = MessageType::kError, .body = {{"code", "no such code"}}});
  EXPECT_EQ(malformed.code, ErrorCode::kCorrupt);
  EXPECT_THAT(malformed.message, HasSubstr("no such code"));
}

TEST(Hello, AgreesOnTheHighestCommonVersion) {
  EXPECT_EQ(agree_on_version({.protocol_min = 1, .protocol_max = 9}).value(), kVersionMax);
  const auto newer = agree_on_version({.protocol_min = 7, .protocol_max = 9, .program = "peer"});
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(newer.error().message, HasSubstr("update this program"));
  const auto older = agree_on_version({.protocol_min = 0, .protocol_max = 0, .program = "peer"});
  ASSERT_FALSE(older);
  EXPECT_THAT(older.error().message, HasSubstr("update it"));
}

TEST(Samples, SurviveTheRoundTripInAFixedLayout) {
  const PhaseSamples samples{.bind_ns = {1, 2}, .execute_ns = {3, -4}, .fetch_ns = {5, 6}};
  const auto blob = blob_from_samples(samples);
  ASSERT_EQ(blob.size(), 48U);
  EXPECT_EQ(blob[0], std::byte{1});
  EXPECT_EQ(blob[16], std::byte{3});
  EXPECT_EQ(blob[24], std::byte{0xFC});
  const auto back = samples_from_blob(blob);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->bind_ns, samples.bind_ns);
  EXPECT_EQ(back->execute_ns, samples.execute_ns);
  EXPECT_EQ(back->fetch_ns, samples.fetch_ns);
  EXPECT_TRUE(samples_from_blob({}));
}

TEST(Samples, OfUnequalColumnsAreCorrupt) {
  for (const std::size_t bytes : {1U, 8U, 16U, 25U, 40U}) {
    EXPECT_FALSE(samples_from_blob(std::vector<std::byte>(bytes))) << bytes;
  }
}

}  // namespace
}  // namespace assay::wire
