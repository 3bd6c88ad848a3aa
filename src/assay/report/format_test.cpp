#include "assay/report/format.h"

#include <cmath>
#include <cstddef>
#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "assay/base/text.h"
#include "assay/record/metric.h"

namespace assay {

// The linker leads the module's calls of first_code_point to the second of these, and the first to
// the function itself (--wrap in CMakeLists.txt).
CodePoint real_first_code_point(std::string_view text) __asm__(
    "__real__ZN5assay16first_code_pointESt17basic_string_viewIcSt11char_traitsIcEE");
CodePoint counted_first_code_point(std::string_view text) __asm__(
    "__wrap__ZN5assay16first_code_pointESt17basic_string_viewIcSt11char_traitsIcEE");

namespace {
std::size_t code_points_read = 0;
}  // namespace

CodePoint counted_first_code_point(std::string_view text) {
  ++code_points_read;
  return real_first_code_point(text);
}

namespace report {
namespace {

TEST(Format, RoundsAMeanCountButNoDigitOfALargeOne) {
  EXPECT_EQ(text_from_count(1.0 / 30), "0.0333");
  EXPECT_EQ(text_from_count(2), "2");
  EXPECT_EQ(text_from_count(2.5), "2.5");
  EXPECT_EQ(text_from_count(12.51), "12.5");
  EXPECT_EQ(text_from_count(1234567), "1234567");
}

TEST(Number, HasThreeSignificantDigitsAndNoFalseOnes) {
  EXPECT_EQ(text_from_number(0), "0");
  EXPECT_EQ(text_from_number(1), "1.00");
  EXPECT_EQ(text_from_number(11.6493), "11.6");
  EXPECT_EQ(text_from_number(3187.4), "3190");
  EXPECT_EQ(text_from_number(123456), "123000");
  EXPECT_EQ(text_from_number(0.041234), "0.0412");
  EXPECT_EQ(text_from_number(-7.129), "-7.13");
  EXPECT_EQ(text_from_number(1.2345e-9), "1.23e-09");
}

TEST(Number, KeepsThreeDigitsWhenRoundingCarries) {
  EXPECT_EQ(text_from_number(9.996), "10.0");
  EXPECT_EQ(text_from_number(99.96), "100");
  EXPECT_EQ(text_from_number(999.6), "1000");
  EXPECT_EQ(text_from_number(0.009996), "0.0100");
}

TEST(Number, NamesWhatIsNotFinite) {
  EXPECT_EQ(text_from_number(std::nan("")), "NaN");
  EXPECT_EQ(text_from_number(std::numeric_limits<double>::infinity()), "∞");
  EXPECT_EQ(text_from_number(-std::numeric_limits<double>::infinity()), "−∞");
}

TEST(Share, NeverReadsAsAllOrNothingWhenItIsNot) {
  EXPECT_EQ(text_from_share(1), "100");
  EXPECT_EQ(text_from_share(0.9999), ">99.9");
  EXPECT_EQ(text_from_share(0.984), "98.4");
  EXPECT_EQ(text_from_share(0.0001), "<0.1");
  EXPECT_EQ(text_from_share(0), "0");
}

TEST(Similarity, NeverReadsAsOneWhenItIsNot) {
  EXPECT_EQ(text_from_similarity(1), "1.00");
  EXPECT_EQ(text_from_similarity(0.99998), "0.999980");
  EXPECT_EQ(text_from_similarity(1 - 1e-12), ">0.9999999");
  EXPECT_EQ(text_from_similarity(0.5), "0.500");
}

TEST(Scale, TakesTheUnitThatSuitsTheMiddleOfAColumn) {
  EXPECT_EQ(scale_for("ns", {9e5, 4e6, 1.2e9}).unit, "ms");
  EXPECT_EQ(scale_for("bytes", {14'212'345}).unit, "MB");
  EXPECT_EQ(scale_for("dB", {30}).unit, "dB");
  EXPECT_EQ(scale_for("ratio", {0.5}).unit, "");
  EXPECT_EQ(scale_for("ns", {}).unit, "ns");
}

TEST(Scale, GivesEachValueItsOwnUnitWhereOneWouldBeLong) {
  // A phone after one launch beside a board: "175000" beside "950" µs.
  const auto scale = scale_for("ns", {940e3, 950e3, 175e6});
  EXPECT_EQ(scale.raw_unit, "ns");
  EXPECT_EQ(text_from_estimate({.value = 175e6}, scale), "175 ms");
  EXPECT_EQ(text_from_estimate({.value = 950e3}, scale), "950 µs");
  EXPECT_EQ(scale_for("ns", {950e3, 980e3, 2e6}).unit, "µs");
  EXPECT_EQ(scale_for("ns", {2e9, 3e9, 1.5e13}).unit, "s") << "there is no larger one";
}

TEST(Scale, GivesEachValueItsOwnUnitWhenTheySpanTooMuch) {
  const auto scale = scale_for("ns", {850, 3.19e9});
  EXPECT_EQ(scale.unit, "");
  EXPECT_EQ(text_from_estimate({.value = 850}, scale), "850 ns");
  EXPECT_EQ(text_from_estimate({.value = 3.19e9}, scale), "3.19 s");
}

TEST(EstimateText, ShowsTheIntervalWithTheDigitsOfTheValue) {
  const Estimate estimate{.value = 11.62e6, .low = 11.4e6, .high = 12.04e6, .confidence = 0.75};
  const auto scale = scale_for("ns", {estimate.value});
  EXPECT_EQ(text_from_estimate(estimate, scale), "11.6");
  EXPECT_EQ(text_from_interval(estimate, scale), "[11.4, 12.0]");
  const Estimate large{.value = 3187e6, .low = 3149e6, .high = 3236e6};
  EXPECT_EQ(text_from_interval(large, {"ms", 1e6}), "[3150, 3240]");
  EXPECT_EQ(text_from_interval({.value = 1}, {}), "") << "no interval, nothing invented";
}

TEST(EstimateText, ShowsSpecialValuesWithoutAUnit) {
  EXPECT_EQ(text_from_metric("sqnr_db", {.special = "nan"}), "NaN");
  EXPECT_EQ(text_from_metric("sqnr_db", {.value = 31.24}), "31.2 dB");
  EXPECT_EQ(text_from_metric("program_bytes", {.value = 8}), "8 B");
  EXPECT_EQ(text_from_metric("delegated_ratio", {.value = 0.93}), "93.0 %");
  EXPECT_EQ(text_from_metric("speedup_ratio", {.value = 2}), "2.00×");
}

TEST(Printable, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("a\xff"
                      "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(printable("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "overlong";
  EXPECT_EQ(printable("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD") << "surrogate";
  EXPECT_EQ(printable("\xE6\x97"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "cut short";
  EXPECT_EQ(printable("日本"), "日本");
}

TEST(Printable, TakesOutTerminalColoursAndControls) {
  EXPECT_EQ(printable("\x1b[31mred\x1b[0m\a"), "red·");
  EXPECT_EQ(printable("\x1b["), "");
  EXPECT_EQ(printable("a\r\n\t b "), "a b");
  EXPECT_EQ(printable_lines("a\nb\tc"), "a\nb\tc");
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b"),
            "a·b")
      << "right-to-left override";
}

TEST(Change, HasItsSignAndTwoDecimalsBelowOnePercent) {
  EXPECT_EQ(text_from_change(0.0351), "+3.5");
  EXPECT_EQ(text_from_change(-0.25), "-25.0");
  EXPECT_EQ(text_from_change(0.01), "+1.0");
  EXPECT_EQ(text_from_change(-0.0041), "-0.41");
  EXPECT_EQ(text_from_changes(-0.004, 0.029), "[-0.40, +2.9]");
}

TEST(Change, HasNoIntervalWhereAnEndIsAbsent) {
  EXPECT_EQ(text_from_changes(std::nullopt, 0.029), kNotMeasured);
  EXPECT_EQ(text_from_changes(0.029, std::nullopt), kNotMeasured);
}

TEST(Width, CountsColumnsOfATerminal) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("µs ±–"), 5U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("e\xCC\x81"), 1U) << "a combining accent takes no room";
}

TEST(Shortened, KeepsBothEndsAndFits) {
  EXPECT_EQ(shortened("mobilenet", 9), "mobilenet");
  EXPECT_EQ(shortened("xnnpack-int8-dynamic", 9), "xnnp…amic");
  EXPECT_LE(display_width(shortened("日本語モデル", 5)), 5U);
  EXPECT_EQ(shortened("abc", 1), "…");
}

/// Code points that `work` looks at.
template <class Work>
std::size_t count_looks(const Work& work) {
  const auto before = code_points_read;
  work();
  return code_points_read - before;
}

TEST(Shortened, LooksAFewTimesAtEachCharacter) {
  constexpr std::size_t kLength = 20'000;
  const auto name = std::string(kLength, 'x') + "日本";
  EXPECT_EQ(shortened(name, 9), "xxxx…日本");
  EXPECT_LE(count_looks([&] { shortened(name, 9); }), 3 * kLength);
  EXPECT_LE(count_looks([&] { shortened(name, kLength - 1); }), 3 * kLength);
}

TEST(Wrapped, LooksAFewTimesAtEachCharacter) {
  std::string words;
  while (words.size() < 20'000) {
    words += "word ";
  }
  EXPECT_LE(count_looks([&] { wrapped(words, 80, 4); }), 4 * words.size());
  const std::string one_word(20'000, 'x');
  EXPECT_LE(count_looks([&] { wrapped(one_word, 80, 4); }), 4 * one_word.size());
}

TEST(Wrapped, BreaksAtSpacesBehindAnIndent) {
  EXPECT_EQ(wrapped("one two three four", 9, 2), "one two\n  three\n  four");
  EXPECT_EQ(wrapped("", 9, 2), "");
  EXPECT_LE(display_width(wrapped(std::string(40, 'x'), 10, 0)), 10U);
}

TEST(LastLine, IsTheLastThatSaysSomething) {
  EXPECT_EQ(last_line("first\nlast words \n\n  \n"), "last words");
  EXPECT_EQ(last_line("\n"), "");
}

TEST(Counted, KnowsSingularAndPlural) {
  EXPECT_EQ(counted(1, "case"), "1 case");
  EXPECT_EQ(counted(0, "case"), "0 cases");
  EXPECT_EQ(counted(2, "launch", "launches"), "2 launches");
}

}  // namespace
}  // namespace report
}  // namespace assay
