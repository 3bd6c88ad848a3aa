#include "assay/report/format.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <string>

#include "assay/base/text.h"
#include "assay/record/metric.h"

namespace assay::report {
namespace {

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
  const auto long_name = shortened(std::string(10'000'000, 'x') + "日本", 9);
  EXPECT_EQ(long_name, "xxxx…日本");  // Also of a name of 10 MB, in one pass over it.
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
}  // namespace assay::report
