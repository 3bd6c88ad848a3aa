#include "assay/measure/streams.h"

#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/measure/measure.h"
#include "assay/measure/testing/scripted_session.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"

namespace assay {
namespace {

std::vector<std::unique_ptr<Session>> sessions_of(int count, int fail_at_execute = -1) {
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < count; ++i) {
    auto session = std::make_unique<ScriptedSession>();
    session->fail_at_execute = fail_at_execute;
    sessions.push_back(std::move(session));
  }
  return sessions;
}

TEST(Streams, InferUntilTheyAreStopped) {
  auto streams = Streams::start(sessions_of(2), {});
  ASSERT_TRUE(streams) << streams.error().message;
  while ((*streams)->count() < 100) {
    std::this_thread::yield();
  }
  ASSERT_TRUE((*streams)->stop());
  const auto count = (*streams)->count();
  std::this_thread::yield();
  EXPECT_EQ((*streams)->count(), count);
}

TEST(Streams, TellTheFailureOfAThread) {
  auto streams = Streams::start(sessions_of(1, /*fail_at_execute=*/3), {});
  ASSERT_TRUE(streams) << streams.error().message;
  // One inference went before the thread, one is counted, and the third ends the thread.
  while ((*streams)->count() < 1 || !(*streams)->has_failed()) {
    std::this_thread::yield();
  }
  const auto stopped = (*streams)->stop();
  ASSERT_FALSE(stopped);
  EXPECT_NE(stopped.error().message.find("stream 2: scripted failure"), std::string::npos)
      << stopped.error().message;
  EXPECT_EQ((*streams)->count(), 1);
}

/// Throws at its third execute, as an engine does that catches nothing.
class ThrowingSession final : public ScriptedSession {
 public:
  Status execute() override {
    if (++executed_ == 3) {
      throw std::runtime_error("out of luck");
    }
    return {};
  }

 private:
  int executed_ = 0;
};

TEST(Streams, SurviveAnEngineThatThrows) {
  std::vector<std::unique_ptr<Session>> sessions;
  sessions.push_back(std::make_unique<ThrowingSession>());
  auto streams = Streams::start(std::move(sessions), {}).value();
  while (!streams->has_failed()) {
    std::this_thread::yield();
  }
  const auto stopped = streams->stop();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kEngine);
  EXPECT_EQ(stopped.error().message, "stream 2: the engine threw: out of luck");
}

TEST(Streams, DoNotStartWithASessionThatFails) {
  const auto streams = Streams::start(sessions_of(2, /*fail_at_execute=*/1), {});
  ASSERT_FALSE(streams);
  EXPECT_NE(streams.error().message.find("scripted failure"), std::string::npos);
}

TEST(Measure, CountsTheInferencesOfOtherStreams) {
  auto streams = Streams::start(sessions_of(1), {});
  ASSERT_TRUE(streams) << streams.error().message;
  ScriptedSession session;
  session.execute_ns = 200'000;
  const MeasurePlan plan{.warmup_iterations = 2, .iterations = 20, .streams = 2};
  const auto before = (*streams)->count();
  const auto measured = measure(session, {}, plan, {}, streams->get());
  ASSERT_TRUE(measured) << measured.error().message;
  const auto after = (*streams)->count();
  ASSERT_TRUE((*streams)->stop());
  EXPECT_EQ(measured->streams, 2);
  EXPECT_EQ(measured->iterations, 20);
  EXPECT_GT(measured->inferences, 22) << "more than the first stream's own";
  EXPECT_LE(measured->inferences, 22 + after - before);
  EXPECT_GE(measured->inferences_ns, measured->wall_ns);
}

}  // namespace
}  // namespace assay
