#include "assay/supervise/agent_service.h"

#include <chrono>
#include <cstdint>
#include <future>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>
#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/pipe.h"
#include "assay/record/spawn.h"
#include "assay/wire/channel.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"

namespace assay {
namespace {

using wire::MessageType;

constexpr std::int64_t kMillisecondNs = 1'000'000;
constexpr int kAnswerMs = 20'000;

/// A service in a thread, and its host's end of the pipes.
class AgentServiceTest : public testing::Test {
 protected:
  ~AgentServiceTest() override {
    requests_.write_end.close();
    if (end_.valid()) {
      end_.wait();
    }
    ::unsetenv("ASSAY_AGENT_HOME");
  }
  void start(const HostPatience& patience) {
    ::setenv("ASSAY_AGENT_HOME", folder_.path().c_str(), 1);
    end_ = std::async(std::launch::async, [this, patience] {
      return serve_agent(requests_.read_end.get(), answers_.write_end.get(),
                         {.hang_up_fd = requests_.read_end.get()}, patience);
    });
  }
  wire::Hello greet(std::int64_t heartbeat_ns) {
    const wire::Hello hello{.program = "assay", .heartbeat_ns = heartbeat_ns};
    EXPECT_TRUE(channel_.send(wire::frame_of(MessageType::kHello, 1, hello)));
    const auto answer = channel_.receive(kAnswerMs);
    EXPECT_TRUE(answer && *answer);
    return wire::body_of<wire::Hello>(**answer).value();
  }
  void spawn(const std::string& script) {
    const SpawnRequest request{.argv = {"/bin/sh", "-c", script}};
    EXPECT_TRUE(channel_.send(wire::frame_of(MessageType::kSpawn, 2, request)));
  }
  /// The number of heartbeats before the answer.
  int beats_before_answer() {
    int beats = 0;
    while (true) {
      const auto frame = channel_.receive(kAnswerMs);
      if (!frame || !*frame || (*frame)->type == MessageType::kSpawn) {
        EXPECT_TRUE(frame && *frame);
        return beats;
      }
      EXPECT_EQ((*frame)->type, MessageType::kLog);
      EXPECT_EQ((*frame)->request, 0U);
      ++beats;
    }
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-service").value();
  Pipe requests_ = Pipe::make().value();
  Pipe answers_ = Pipe::make().value();
  wire::Channel channel_{answers_.read_end.get(), requests_.write_end.get()};
  std::future<AgentEnd> end_;
};

TEST_F(AgentServiceTest, ShowsThatItLivesWhileAProgramRuns) {
  start({});
  EXPECT_EQ(greet(5 * kMillisecondNs).heartbeat_ns, 5 * kMillisecondNs);
  spawn("sleep 0.3");
  EXPECT_GE(beats_before_answer(), 1);
}

/// Over a slow link a request of 16 MiB is under way for minutes.
TEST_F(AgentServiceTest, ShowsThatItLivesWhileARequestArrives) {
  start({});
  greet(5 * kMillisecondNs);
  const auto bytes = wire::bytes_from_frame({.type = MessageType::kConditions, .request = 3});
  const auto half = bytes.size() / 2;
  ASSERT_EQ(::write(requests_.write_end.get(), bytes.data(), half), static_cast<ssize_t>(half));
  const auto beat = channel_.receive(kAnswerMs);
  ASSERT_TRUE(beat && *beat);
  EXPECT_EQ((*beat)->type, MessageType::kLog);
  ASSERT_GT(::write(requests_.write_end.get(), bytes.data() + half, bytes.size() - half), 0);
  auto answer = channel_.receive(kAnswerMs);
  while (answer && *answer && (*answer)->type == MessageType::kLog) {
    answer = channel_.receive(kAnswerMs);
  }
  ASSERT_TRUE(answer && *answer);
  EXPECT_EQ((*answer)->request, 3U);
}

TEST_F(AgentServiceTest, SendsNoSignsUnlessAsked) {
  start({});
  EXPECT_EQ(greet(0).heartbeat_ns, 0);
  spawn("sleep 0.1");
  EXPECT_EQ(beats_before_answer(), 0);
}

TEST_F(AgentServiceTest, TellsItsBootAndItsFolder) {
  start({});
  const auto hello = greet(0);
  EXPECT_EQ(hello.boot_id + "\n", read_file("/proc/sys/kernel/random/boot_id").value());
  EXPECT_EQ(hello.home, folder_.path().string());
}

TEST_F(AgentServiceTest, LeavesAHostThatAsksForNothingMore) {
  start({.idle_ns = 20 * kMillisecondNs});
  greet(kMillisecondNs);
  EXPECT_EQ(end_.get(), AgentEnd::kAbandoned);
}

TEST_F(AgentServiceTest, LeavesAHostThatStopsWithinARequest) {
  start({.idle_ns = 20 * kMillisecondNs});
  greet(kMillisecondNs);
  const auto bytes = wire::bytes_from_frame({.type = MessageType::kBye});
  ASSERT_EQ(::write(requests_.write_end.get(), bytes.data(), 10), 10);
  EXPECT_EQ(end_.get(), AgentEnd::kAbandoned);
}

TEST_F(AgentServiceTest, LeavesAHostThatTakesNoAnswer) {
  start({.unread_ns = 20 * kMillisecondNs});
  greet(1'000 * kMillisecondNs);
  spawn("head -c 4000000 /dev/zero");
  EXPECT_EQ(end_.get(), AgentEnd::kAbandoned);
}

TEST_F(AgentServiceTest, LeavesAHostThatTakesNoSigns) {
  start({.unread_ns = 20 * kMillisecondNs});
  greet(kMillisecondNs);
  const int reader = answers_.write_end.get();
  wire::stop_blocking(reader);
  const std::vector<char> filling(1 << 16);
  while (::write(reader, filling.data(), filling.size()) > 0) {
  }
  spawn("sleep 0.2");
  EXPECT_EQ(end_.get(), AgentEnd::kAbandoned);
}

TEST_F(AgentServiceTest, WaitsForAHostThatAskedForNoSigns) {
  start({.idle_ns = kMillisecondNs, .unread_ns = kMillisecondNs});
  greet(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_TRUE(channel_.send({.type = MessageType::kBye}));
  EXPECT_EQ(end_.get(), AgentEnd::kBye);
}

}  // namespace
}  // namespace assay
