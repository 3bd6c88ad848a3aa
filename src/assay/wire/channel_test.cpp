#include "assay/wire/channel.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdio.h>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "assay/base/digest.h"
#include "assay/base/result.h"
#include "assay/wire/frame.h"

namespace assay::wire {
namespace {

/// Both ends of a pipe.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_read();
    close_write();
  }
  [[nodiscard]] int read_fd() const { return ends_[0]; }
  [[nodiscard]] int write_fd() const { return ends_[1]; }
  void close_read() { close_end(ends_[0]); }
  void close_write() { close_end(ends_[1]); }
  void write(std::span<const std::byte> bytes) const {
    EXPECT_EQ(::write(write_fd(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }

 private:
  static void close_end(int& fd) {
    if (fd >= 0) {
      ::close(fd);
    }
    fd = -1;
  }
  std::array<int, 2> ends_{-1, -1};
};

Frame frame_with_blob(std::size_t bytes) {
  return {.type = MessageType::kPut,
          .request = 7,
          .body = {{"sha256", "ab"}},
          .blob = std::vector<std::byte>(bytes, std::byte{0x5A})};
}

TEST(Channel, DeliversFramesInOrderAndThenACleanEnd) {
  Pipe pipe;
  Channel channel(pipe.read_fd(), pipe.write_fd());
  ASSERT_TRUE(channel.send(frame_with_blob(3)));
  ASSERT_TRUE(channel.send({.type = MessageType::kBye, .request = 8}));
  pipe.close_write();
  const auto first = channel.receive();
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->blob.size(), 3U);
  const auto second = channel.receive();
  ASSERT_TRUE(second && *second);
  EXPECT_EQ((*second)->type, MessageType::kBye);
  const auto end = channel.receive();
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->has_value());
}

TEST(Channel, CarriesFramesLargerThanAPipe) {
  Pipe pipe;
  Channel channel(pipe.read_fd(), pipe.write_fd());
  const auto sent = frame_with_blob(20 << 20);
  Status status;
  std::thread writer([&] { status = channel.send(sent); });
  const auto received = channel.receive();
  writer.join();
  ASSERT_TRUE(status);
  ASSERT_TRUE(received && *received);
  EXPECT_EQ((*received)->blob, sent.blob);
}

TEST(Channel, GivesUpOnASideThatFallsSilentWithinAFrame) {
  const Pipe pipe;
  Channel channel(pipe.read_fd(), pipe.write_fd());
  const auto bytes = bytes_from_frame(frame_with_blob(3));
  pipe.write(std::span(bytes).first(bytes.size() - 1));
  const auto lost = channel.receive(60'000, 20);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(lost.error().message, "no sign of life for 0.02 s");
}

TEST(Channel, GivesUpOnASideThatTakesNothing) {
  const Pipe pipe;
  stop_blocking(pipe.write_fd());
  Channel channel(pipe.read_fd(), pipe.write_fd());
  const auto lost = channel.send(frame_with_blob(1 << 20), 20);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::kTimeout);
}

TEST(Channel, WorksOnNonBlockingDescriptors) {
  Pipe pipe;
  ::fcntl(pipe.read_fd(), F_SETFL, O_NONBLOCK);
  ::fcntl(pipe.write_fd(), F_SETFL, O_NONBLOCK);
  Channel channel(pipe.read_fd(), pipe.write_fd());
  const auto sent = frame_with_blob(1 << 20);
  std::thread writer([&] { EXPECT_TRUE(channel.send(sent)); });
  const auto received = channel.receive();
  writer.join();
  ASSERT_TRUE(received && *received);
  EXPECT_EQ((*received)->blob, sent.blob);
}

TEST(Channel, TellsAStreamThatEndsInsideAFrame) {
  const auto whole = bytes_from_frame(frame_with_blob(3));
  for (const std::size_t length : {std::size_t{1}, kHeaderBytes, whole.size() - 1}) {
    Pipe pipe;
    Channel channel(pipe.read_fd(), -1);
    pipe.write(std::span(whole).first(length));
    pipe.close_write();
    const auto received = channel.receive();
    ASSERT_FALSE(received) << length;
    EXPECT_EQ(received.error().code, ErrorCode::kCorrupt) << length;
  }
}

TEST(Channel, TellsWhatIsNoFrame) {
  Pipe pipe;
  Channel channel(pipe.read_fd(), -1);
  pipe.write(std::vector<std::byte>(64, std::byte{'x'}));
  const auto received = channel.receive();
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ErrorCode::kCorrupt);
}

TEST(Channel, TimesOutBeforeAndInsideAFrame) {
  Pipe pipe;
  Channel channel(pipe.read_fd(), -1);
  EXPECT_EQ(channel.receive(0).error().code, ErrorCode::kTimeout);
  const auto whole = bytes_from_frame(frame_with_blob(3));
  pipe.write(std::span(whole).first(10));
  EXPECT_EQ(channel.receive(1).error().code, ErrorCode::kTimeout);
}

TEST(Channel, TellsAReaderThatIsGoneWithoutASignal) {
  Pipe pipe;
  pipe.close_read();
  Channel channel(-1, pipe.write_fd());
  const auto status = channel.send(frame_with_blob(3));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kCrashed);
}

TEST(Channel, TellsAFullDisk) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  if (full < 0) {
    GTEST_SKIP() << "no /dev/full here";
  }
  const auto status = Channel(-1, full).send(frame_with_blob(3));
  ::close(full);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kExhausted);
}

TEST(Channel, AllocatesWithWhatArrivesAndNotWithWhatIsAnnounced) {
  auto bytes = bytes_from_frame(frame_with_blob(0));
  const std::uint64_t announced = kMaxBlobBytes;
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[16 + i] = static_cast<std::byte>(announced >> (8 * i));
  }
  const auto crc = crc32c({std::span(bytes).first(28)});
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[28 + i] = static_cast<std::byte>(crc >> (8 * i));
  }
  Pipe pipe;
  pipe.write(bytes);
  pipe.close_write();
  const auto received = Channel(pipe.read_fd(), -1).receive();
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ErrorCode::kCorrupt);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, 1 << 20) << "KiB";
}

TEST(Channel, ReadsAndWritesPlainFiles) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  Channel channel(::fileno(file), ::fileno(file));
  ASSERT_TRUE(channel.send(frame_with_blob(100)));
  ::lseek(::fileno(file), 0, SEEK_SET);
  const auto received = channel.receive();
  ASSERT_TRUE(received && *received);
  EXPECT_EQ((*received)->blob.size(), 100U);
  const auto end = channel.receive();
  EXPECT_TRUE(end && !end->has_value());
  std::fclose(file);
}

}  // namespace
}  // namespace assay::wire
