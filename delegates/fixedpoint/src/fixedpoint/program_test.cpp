#include "fixedpoint/program.h"

#include "fixedpoint/executor.h"
#include "fixedpoint/format.h"
#include "fixedpoint/reorder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace fixedpoint {
namespace {

using testing::HasSubstr;

/// Tables twice: input -> arena -> output, in 5 bytes; made by hand as the format says.
struct Small {
  std::vector<TensorRecord> tensors;
  std::vector<OperationRecord> operations;
  std::vector<std::uint32_t> indices = {0, 3, 1, 3};
  std::vector<std::uint32_t> boundary = {0, 2};
  std::uint64_t arena_bytes = 64;

  Small() {
    const TensorRecord five{.dtype = DType::kInt8, .rank = 1, .bytes = 5, .dims = {5}};
    tensors.assign(4, five);
    tensors[0].place = Place::kInput;
    tensors[1].place = Place::kArena;
    tensors[2].place = Place::kOutput;
    tensors[3] = {.dtype = DType::kInt8,
                  .place = Place::kConstant,
                  .rank = 1,
                  .offset = 64 + 4 * 64 + 2 * 128 + 64 + 64,
                  .bytes = 256,
                  .dims = {256}};
    OperationRecord table{.kind = Kind::kTable, .input_count = 2, .low = -128, .high = 127};
    table.attributes[0] = 5;
    operations.assign(2, table);
    operations[0].output = 1;
    operations[1].first_input = 2;
    operations[1].output = 2;
    operations[1].handle = 1;
  }

  std::vector<std::byte> bytes() const {
    std::vector<std::byte> blob;
    Header header{.magic = kMagic,
                  .format_version = kFormatVersion,
                  .semantics_version = kSemanticsVersion,
                  .arena_bytes = arena_bytes,
                  .tensor_count = static_cast<std::uint32_t>(tensors.size()),
                  .operation_count = static_cast<std::uint32_t>(operations.size()),
                  .index_count = static_cast<std::uint32_t>(indices.size()),
                  .input_count = 1,
                  .output_count = 1,
                  .alignment = kAlignment};
    put(blob, &header, sizeof header);
    put(blob, tensors.data(), tensors.size() * sizeof(TensorRecord));
    put(blob, operations.data(), operations.size() * sizeof(OperationRecord));
    put(blob, indices.data(), indices.size() * 4);
    put(blob, boundary.data(), boundary.size() * 4);
    std::vector<std::int8_t> table(256);
    for (int i = 0; i < 256; ++i) {
      table[i] = static_cast<std::int8_t>(-(i - 128) / 2);
    }
    put(blob, table.data(), table.size());
    return sealed(std::move(blob));
  }

  /// With the size and the checksum that belong to it.
  static std::vector<std::byte> sealed(std::vector<std::byte> blob) {
    const std::uint64_t total = blob.size();
    std::memcpy(blob.data() + offsetof(Header, total_bytes), &total, 8);
    const auto checksum = checksum_of(blob);
    std::memcpy(blob.data() + offsetof(Header, checksum), &checksum, 8);
    return blob;
  }

 private:
  static void put(std::vector<std::byte>& blob, const void* data, std::size_t bytes) {
    const auto* first = static_cast<const std::byte*>(data);
    blob.insert(blob.end(), first, first + bytes);
    blob.resize((blob.size() + 63) / 64 * 64);
  }
};

std::string error_of(const Small& small) {
  const auto blob = small.bytes();
  const auto opened = Executor::open(blob, "scalar");
  return opened ? "" : opened.error();
}

TEST(Program, RunsOneThatIsWellFormed) {
  const auto blob = Small().bytes();
  auto opened = Executor::open(blob, "scalar");
  ASSERT_TRUE(opened) << opened.error();
  const std::vector<std::int8_t> in = {-128, -4, 0, 4, 127};
  std::vector<std::int8_t> out(5);
  const void* input = in.data();
  void* output = out.data();
  const auto status = (*opened)->execute({&input, 1}, {&output, 1});
  ASSERT_TRUE(status) << status.error();
  EXPECT_EQ(out, (std::vector<std::int8_t>{-32, -1, 0, 1, 31}));
}

TEST(Program, RefusesOtherVersionsAndSaysWhich) {
  auto blob = Small().bytes();
  blob[offsetof(Header, format_version)] = std::byte{9};
  const auto opened = read_program(Small::sealed(blob));
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error(), HasSubstr("format 9"));
}

TEST(Program, RefusesEveryFlippedBit) {
  const auto blob = Small().bytes();
  for (std::size_t i = 0; i < blob.size() * 8; ++i) {
    auto flipped = blob;
    flipped[i / 8] ^= std::byte{1} << (i % 8);
    ASSERT_FALSE(read_program(flipped)) << "bit " << i;
  }
}

TEST(Program, RefusesEveryTruncation) {
  const auto blob = Small().bytes();
  for (std::size_t size = 0; size < blob.size(); ++size) {
    ASSERT_FALSE(read_program(std::span(blob).first(size))) << size;
  }
}

TEST(Program, SurvivesEveryByteThatLiesUnderAValidChecksum) {
  const auto blob = Small().bytes();
  const std::vector<std::int8_t> in(5);
  std::vector<std::int8_t> out(5);
  const void* input = in.data();
  void* output = out.data();
  int opened_count = 0;
  for (std::size_t i = 0; i < blob.size(); ++i) {
    for (const int value : {0, 1, 127, 128, 255}) {
      auto changed = blob;
      changed[i] = static_cast<std::byte>(value);
      changed = Small::sealed(std::move(changed));
      const auto opened = Executor::open(changed, "scalar");
      const bool has_same_boundary = opened && (*opened)->program().tensors[0].bytes == 5 &&
                                     (*opened)->program().tensors[2].bytes == 5 &&
                                     (*opened)->program().inputs.size() == 1 &&
                                     (*opened)->program().outputs.size() == 1;
      if (has_same_boundary) {
        EXPECT_TRUE((*opened)->execute({&input, 1}, {&output, 1}));
        ++opened_count;
      }
    }
  }
  EXPECT_GT(opened_count, 256);  // those of the table's content, at least
}

TEST(Program, RefusesATensorOutsideOfTheArena) {
  Small small;
  small.tensors[1].offset = 64;
  EXPECT_THAT(error_of(small), HasSubstr("tensor 1: it leaves the arena"));
}

TEST(Program, RefusesAnArenaThatNothingNeeds) {
  Small small;
  small.arena_bytes = 128;
  EXPECT_THAT(error_of(small), HasSubstr("larger than its tensors need"));
}

TEST(Program, RefusesAnOperationThatWritesOverWhatIsReadLater) {
  Small small;
  // A second table of the input takes the first one's place while that is still to be read.
  small.tensors.push_back(small.tensors[1]);
  small.operations.insert(small.operations.begin() + 1, small.operations[0]);
  small.operations[1].output = 4;
  small.tensors[3].offset += 64 + 128;
  EXPECT_THAT(error_of(small), HasSubstr("writes over a tensor that is needed"));
  small.tensors[4].offset = 64;
  small.arena_bytes = 128;
  EXPECT_EQ(error_of(small), "");
}

TEST(Program, RefusesAReaderBeforeItsWriter) {
  Small small;
  std::swap(small.operations[0], small.operations[1]);
  EXPECT_THAT(error_of(small), HasSubstr("reads a tensor that nothing has made"));
}

TEST(Program, RefusesAWrittenConstant) {
  Small small;
  small.operations[0].output = 3;
  EXPECT_THAT(error_of(small), HasSubstr("writes a tensor that is there already"));
}

TEST(HasOrder, ComparesDimensionsThatAreLongerThanOne) {
  using Order = std::vector<std::uint8_t>;
  TensorRecord image{
      .dtype = DType::kInt8, .rank = 4, .dims = {1, 5, 6, 3}};  // (N, C, H, W) stored channels last
  image.order = 0x1320;                                         // 0, 2, 3, 1
  EXPECT_TRUE(has_order(image, Order{0, 2, 3, 1}));
  EXPECT_TRUE(has_order(image, Order{2, 0, 3, 1}));
  EXPECT_FALSE(has_order(image, Order{0, 1, 2, 3}));
  EXPECT_FALSE(has_order(image, Order{0, 2, 3}));
  EXPECT_FALSE(has_order(image, Order{0, 2, 3, 9}));
  const TensorRecord gray{.dtype = DType::kInt8, .rank = 4, .dims = {1, 1, 5, 6}};
  EXPECT_TRUE(has_order(gray, Order{0, 1, 2, 3}));
  EXPECT_TRUE(has_order(gray, Order{0, 2, 3, 1}));
  EXPECT_FALSE(has_order(gray, Order{0, 1, 3, 2}));
}

TEST(Reorder, CopiesThereAndBackBetweenAnyTwoOrders) {
  using Order = std::vector<std::uint8_t>;
  // Rows and columns of (2, 3, 2), stored with the last dimension outermost.
  TensorRecord tensor{.dtype = DType::kInt8, .rank = 3, .bytes = 12, .dims = {2, 2, 3}};
  tensor.order = 0x102;  // 2, 0, 1
  std::vector<std::byte> given(12);
  for (std::size_t i = 0; i < given.size(); ++i) {
    given[i] = static_cast<std::byte>(i);  // Element (a, b, c) is 6 a + 2 b + c.
  }
  std::vector<std::byte> made(12);
  copy_into_order(tensor, Order{0, 1, 2}, given.data(), made.data());
  for (int c = 0; c < 2; ++c) {
    for (int a = 0; a < 2; ++a) {
      for (int b = 0; b < 3; ++b) {
        EXPECT_EQ(std::to_integer<int>(made[6 * c + 3 * a + b]), 6 * a + 2 * b + c);
      }
    }
  }
  std::vector<std::byte> back(12);
  copy_out_of_order(tensor, Order{0, 1, 2}, made.data(), back.data());
  EXPECT_EQ(back, given);
  EXPECT_TRUE(is_permutation(Order{2, 0, 1}));
  EXPECT_FALSE(is_permutation(Order{0, 0, 1}));
  EXPECT_FALSE(is_permutation(Order{0, 1, 3}));
}

TEST(Program, RefusesAnOrderThatIsNoPermutation) {
  Small small;
  small.tensors[0].rank = 2;
  small.tensors[0].dims = {1, 5};
  for (const std::uint32_t order : {0x11U, 0x20U, 0x101U}) {
    small.tensors[0].order = order;
    EXPECT_THAT(error_of(small), HasSubstr("tensor 0: its order is none")) << order;
  }
  small.tensors[0].order = 0x01;
  EXPECT_EQ(error_of(small), "");
  small.tensors[1].order = 0x01;  // in the arena nobody outside reads it
  EXPECT_THAT(error_of(small), HasSubstr("tensor 1: its order is none"));
}

TEST(Program, RefusesAKindThatItDoesNotKnow) {
  Small small;
  small.operations[1].kind = static_cast<Kind>(77);
  EXPECT_THAT(error_of(small), HasSubstr("operation 1: this runtime does not know its kind, 77"));
}

TEST(Program, NamesTheKernelsThatThereAre) {
  const auto opened = Executor::open(Small().bytes(), "nope");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error(), HasSubstr("scalar"));
}

}  // namespace
}  // namespace fixedpoint
