#include "assay/engines/openvino/engine_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <new>
#include <stdexcept>
#include <string>

namespace assay::openvino {
namespace {

using testing::HasSubstr;

Error error_of(const auto& thrown) {
  // NOLINTNEXTLINE(bugprone-std-exception-baseclass): a library may throw anything.
  return guarded("it", ErrorCode::kCorrupt, [&] { throw thrown; }).error();
}

TEST(EngineError, ReturnsWhatTheCallReturns) {
  EXPECT_EQ(guarded("it", ErrorCode::kEngine, [] { return 5; }).value(), 5);
  EXPECT_TRUE(guarded("it", ErrorCode::kEngine, [] {}));
}

TEST(EngineError, ChoosesTheCodeByWhatWasThrown) {
  EXPECT_EQ(error_of(std::bad_alloc()).code, ErrorCode::kExhausted);
  EXPECT_EQ(error_of(std::runtime_error("Operation X is Not Supported")).code,
            ErrorCode::kUnsupported);
  EXPECT_EQ(error_of(std::runtime_error("unexpected end")).code, ErrorCode::kCorrupt);
  EXPECT_EQ(error_of(5).code, ErrorCode::kCorrupt);
}

TEST(EngineError, TakesNoWordOfAPathForARefusal) {
  const auto code_of = [](const std::string& text, const std::string& about) {
    return guarded(
               "it", ErrorCode::kCorrupt, [&text] { throw std::runtime_error(text); }, about)
        .error()
        .code;
  };
  EXPECT_EQ(code_of("Unable to read /home/x/unsupported/net.onnx", ""), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of("could not open '/a/not supported here/net.onnx'", "/a/not supported here"),
            ErrorCode::kCorrupt);
  EXPECT_EQ(code_of("operator X of /home/x/unsupported/net.onnx is not supported", ""),
            ErrorCode::kUnsupported);
}

TEST(EngineError, LeavesPlacesInSourcesOut) {
  const std::string text =
      "Exception from src/inference/src/cpp/core.cpp:90:\n"
      "Check 'm_impl' failed at src/core/x.cpp:12:\n"
      "the weights are short\n\n  by a byte\n";
  EXPECT_EQ(readable_text(text), "the weights are short; by a byte");
}

TEST(EngineError, KeepsATextThatIsAPlaceOnlyAndCutsLongOnes) {
  EXPECT_EQ(readable_text("Exception from src/a.cpp:1:\n\n"), "Exception from src/a.cpp:1:\n\n");
  EXPECT_LT(readable_text(std::string(5000, 'x')).size(), 1000U);
  EXPECT_THAT(error_of(std::runtime_error("boom")).message, HasSubstr("it: boom"));
}

}  // namespace
}  // namespace assay::openvino
