#include "fixedpoint/executor.h"
#include "fixedpoint/format.h"
#include "fixedpoint/program.h"
#include "fixedpoint/testing/blob_writer.h"
#include "fixedpoint/testing/kernel_check.h"
#include "fixedpoint/testing/small_programs.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <ostream>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

// Changed programs are refused, or run within their memory (what a sanitizer proves) with the same
// bits on every instruction set.
namespace fixedpoint::testing {

/// How GoogleTest names them.
void PrintTo(const SmallProgram& program, std::ostream* out) { *out << program.name; }

namespace {

class EachProgram : public ::testing::TestWithParam<SmallProgram> {
 protected:
  const std::vector<std::byte>& blob() const { return GetParam().blob; }
  /// Where constants begin.
  std::size_t structure_bytes() const {
    const auto program = read_program(blob());
    std::size_t first = blob().size();
    for (const auto& tensor : program->tensors) {
      if (tensor.place == Place::kConstant && tensor.offset < first) {
        first = tensor.offset;
      }
    }
    return first;
  }
};

/// Every bit turned, its neighbours, small numbers, and the ends of int8 and uint8.
std::set<int> values_instead_of(std::byte byte) {
  const int old = std::to_integer<int>(byte);
  std::set<int> values = {127, 128, 255, (old + 1) % 256, (old + 255) % 256};
  for (int i = 0; i < 8; ++i) {
    values.insert(i);
    values.insert(old ^ (1 << i));
  }
  values.erase(old);
  return values;
}

/// Tries a changed blob under a checksum that fits.
KernelCheck check_sealed(std::vector<std::byte> changed) {
  seal(changed);
  return check_blob(changed);
}

TEST_P(EachProgram, RunsAsItIs) {
  const auto check = check_blob(blob());
  EXPECT_TRUE(check.has_run);
  EXPECT_EQ(check.disagreement, "");
}

TEST_P(EachProgram, SurvivesAChangeOfEveryByteOfItsStructure) {
  int run_count = 0;
  const std::size_t end = structure_bytes();
  for (std::size_t i = 0; i < end; ++i) {
    for (const int value : values_instead_of(blob()[i])) {
      auto changed = blob();
      changed[i] = static_cast<std::byte>(value);
      const auto check = check_sealed(std::move(changed));
      ASSERT_EQ(check.disagreement, "") << "byte " << i << " is " << value;
      run_count += check.has_run ? 1 : 0;
    }
  }
  EXPECT_GT(run_count, 256);  // bytes that nothing reads, at least
}

TEST_P(EachProgram, SurvivesExtremesInItsConstants) {
  for (std::size_t i = structure_bytes(); i < blob().size(); ++i) {
    for (const int value : {0, 1, 127, 128, 255}) {
      auto changed = blob();
      changed[i] = static_cast<std::byte>(value);
      ASSERT_EQ(check_sealed(std::move(changed)).disagreement, "")
          << "byte " << i << " is " << value;
    }
  }
}

/// Changes some fields of 1, 4 or 8 bytes, most of them within the structure, to numbers at the
/// ends of types, sizes and limits, or to what stands in another field.
class Fields {
 public:
  Fields(unsigned seed, std::size_t structure_bytes)
      : engine_(seed), structure_bytes_(structure_bytes) {}

  void change(std::vector<std::byte>& blob) {
    for (auto left = draw(1, 6); left > 0; --left) {
      const std::size_t size = std::array{1, 4, 4, 8}[draw(0, 3)];
      const std::size_t end = draw(0, 7) == 0 ? blob.size() : structure_bytes_;
      const auto number = draw(0, 3) == 0 ? word_of(blob, end) : extreme();
      std::memcpy(blob.data() + draw(0, end / size - 1) * size, &number, size);
    }
  }

 private:
  std::uint64_t draw(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(engine_);
  }
  std::uint64_t word_of(const std::vector<std::byte>& blob, std::size_t end) {
    std::uint32_t word = 0;
    std::memcpy(&word, blob.data() + draw(0, end / 4 - 1) * 4, 4);
    return word;
  }
  /// A small number, or one about a power of two; negative as often.
  std::uint64_t extreme() {
    const std::uint64_t number =
        draw(0, 1) == 0 ? draw(0, 64) : (std::uint64_t{1} << draw(3, 63)) + draw(0, 2) - 1;
    return draw(0, 1) == 0 ? number : ~number + 1;
  }

  std::mt19937 engine_;
  std::size_t structure_bytes_;
};

TEST_P(EachProgram, SurvivesSeveralFieldsThatChange) {
  Fields fields(7, structure_bytes());
  int run_count = 0;
  int refused_count = 0;
  for (int i = 0; i < 20000; ++i) {
    auto changed = blob();
    fields.change(changed);
    const auto check = check_sealed(std::move(changed));
    ASSERT_EQ(check.disagreement, "") << "change " << i;
    run_count += check.has_run ? 1 : 0;
    refused_count += check.is_accepted ? 0 : 1;
  }
  EXPECT_GT(run_count, 200);
  EXPECT_GT(refused_count, 200);
}

INSTANTIATE_TEST_SUITE_P(All, EachProgram, ::testing::ValuesIn(small_programs()),
                         [](const auto& tested) { return tested.param.name; });

/// Refused, with these words.
void expect_refused(std::span<const std::byte> blob, const std::string& reason) {
  const auto program = read_program(blob);
  ASSERT_FALSE(program);
  EXPECT_NE(program.error().find(reason), std::string::npos) << program.error();
}

TEST(Mutation, RefusesASecondTensorInAnInputsPlace) {
  BlobWriter writer;
  const auto in = writer.add_input({4});
  const auto shadow = writer.add_arena({4});
  const auto out = writer.add_output({4});
  writer.add_operation(Kind::kAdd, {in, shadow}, out, {4});
  auto blob = writer.bytes();
  for (const auto place : {Place::kInput, Place::kOutput}) {
    blob[sizeof(Header) + shadow * sizeof(TensorRecord) + offsetof(TensorRecord, place)] =
        static_cast<std::byte>(place);
    seal(blob);
    expect_refused(
        blob, place == Place::kInput ? "tensor 1: it is no input" : "tensor 1: it is no output");
  }
}

TEST(Mutation, RefusesAShapeWhoseSizeLeaves64Bits) {
  BlobWriter writer;
  // 2^33 * (2^31 + 1) is 2^33 modulo 2^64, and 2^33 * 2^31 nothing.
  writer.add_input({1U << 16, 1U << 17, 1U << 31});
  auto blob = writer.bytes();
  expect_refused(blob, "tensor 0: it is too large");
}

TEST(Mutation, RefusesAWindowWithoutEnd) {
  BlobWriter writer;
  const auto in = writer.add_input({1, 1, 1, 1});
  const auto out = writer.add_output({1, 1, 1, 1});
  const std::int32_t most = 1 << 24;
  writer.add_operation(Kind::kMaxPool2d, {in}, out,
                       {1, 1, 1, 1, 1, 1, most, most, 1, 1, 0, 0, 1, 1});
  const auto opened = Executor::open(writer.bytes(), "scalar");
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().find("its windows are too large"), std::string::npos) << opened.error();
}

}  // namespace
}  // namespace fixedpoint::testing
