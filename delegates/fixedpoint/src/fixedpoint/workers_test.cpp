#include "fixedpoint/workers.h"

#include "fixedpoint/executor.h"
#include "fixedpoint/format.h"
#include "fixedpoint/kernels.h"
#include "fixedpoint/testing/blob_writer.h"

#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace fixedpoint {
namespace {

/// A thread for each part, all at the same time.
class Threads : public Workers {
 public:
  explicit Threads(int count) : count_(count) {}
  int count() const override { return count_; }
  void run(void (*work)(void* context, int part), void* context) override {
    ++run_count;
    std::vector<std::jthread> threads;
    for (int part = 0; part < count_; ++part) {
      threads.emplace_back(work, context, part);
    }
  }
  int run_count = 0;

 private:
  int count_;
};

std::vector<std::int8_t> values(std::size_t count, int step) {
  std::vector<std::int8_t> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    made[i] = static_cast<std::int8_t>(static_cast<int>(i * step % 255) - 127);
  }
  return made;
}

struct Shape {
  std::string name;
  Window window;
};

/// Large enough to be shared: by rows, by tiles of channels, windows, channel by channel.
std::vector<Shape> shapes() {
  return {{"rows", {1, 31, 17, 40, 31, 17, 70}},
          {"tiles", {1, 1, 1, 700, 1, 1, 530}},
          {"tiles of some rows", {1, 5, 8, 256, 5, 8, 530}},
          {"tiles of windows", {1, 7, 7, 64, 7, 7, 130, 3, 3, 1, 1, 1, 1}},
          {"windows", {1, 21, 19, 9, 21, 19, 33, 3, 3, 1, 1, 1, 1}},
          {"depthwise", {2, 23, 29, 70, 23, 29, 70, 3, 3, 1, 1, 1, 1, 1, 1, 70, 5}}};
}

/// One convolution with a table.
std::vector<std::byte> program_of(const Window& w) {
  testing::BlobWriter blob;
  const auto size = [](int value) { return static_cast<std::uint32_t>(value); };
  const auto channels = size(w.out_channels);
  const auto in =
      blob.add_input({size(w.batch), size(w.in_height), size(w.in_width), size(w.in_channels)});
  const auto out =
      blob.add_output({size(w.batch), size(w.out_height), size(w.out_width), channels});
  const auto weights = blob.add_constant(
      {channels, size(w.kernel_height), size(w.kernel_width), size(w.in_group())}, DType::kInt8,
      values(static_cast<std::size_t>(w.out_channels) * w.depth(), 37));
  const auto multipliers =
      blob.add_constant({channels}, DType::kInt32, std::vector<std::int32_t>(channels, 0x55555555));
  const auto shifts =
      blob.add_constant({channels}, DType::kUint8, std::vector<std::uint8_t>(channels, 41));
  const auto biases = blob.add_constant({channels}, DType::kInt64,
                                        std::vector<std::int64_t>(channels, std::int64_t{7} << 40));
  const auto table = blob.add_constant({256}, DType::kInt8, values(256, 101));
  blob.add_operation(Kind::kConv2d, {in, weights, multipliers, shifts, biases, table}, out,
                     {w.batch, w.in_height, w.in_width, w.in_channels, w.out_height, w.out_width,
                      w.out_channels, w.kernel_height, w.kernel_width, w.stride_height,
                      w.stride_width, w.pad_top, w.pad_left, 1, 1, w.groups, w.padding_value});
  return blob.bytes();
}

std::vector<std::int8_t> run(const std::vector<std::byte>& blob, const Window& w,
                             std::string_view isa, Workers* workers) {
  auto executor = Executor::open(blob, isa, workers);
  EXPECT_TRUE(executor) << executor.error();
  const auto in =
      values(static_cast<std::size_t>(w.batch) * w.in_height * w.in_width * w.in_channels, 11);
  std::vector<std::int8_t> out(w.out_pixels() * w.out_channels);
  const void* input = in.data();
  void* output = out.data();
  EXPECT_TRUE((*executor)->execute({&input, 1}, {&output, 1}));
  EXPECT_TRUE((*executor)->execute({&input, 1}, {&output, 1}));
  return out;
}

TEST(Workers, GiveTheSameBitsInAnyNumber) {
  for (const auto& shape : shapes()) {
    const auto blob = program_of(shape.window);
    const auto expected = run(blob, shape.window, "scalar", nullptr);
    for (const auto* kernels : all_kernels()) {
      for (const int count : {1, 2, 3, 7, 64}) {
        if (!kernels->is_supported()) {
          continue;
        }
        Threads threads(count);
        ASSERT_EQ(run(blob, shape.window, kernels->isa, &threads), expected)
            << shape.name << ", " << kernels->isa << ", " << count;
        const bool is_shared = count > 1 && kernels->isa != "scalar";
        EXPECT_EQ(threads.run_count, is_shared ? 2 : 0) << shape.name << ", " << kernels->isa;
      }
    }
  }
}

TEST(Workers, SharesCoverEverythingOnce) {
  for (const std::int64_t count : {0, 1, 11, 12, 13, 100}) {
    for (const int parts : {1, 2, 3, 7}) {
      std::int64_t end = 0;
      for (int part = 0; part < parts; ++part) {
        const auto share = share_of(count, part, parts, 12);
        EXPECT_EQ(share.first, end);
        EXPECT_TRUE(share.first % 12 == 0 || share.first == count);
        end = share.end;
      }
      EXPECT_EQ(end, count);
    }
  }
}

}  // namespace
}  // namespace fixedpoint
