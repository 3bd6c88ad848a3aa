#include "assay/supervise/stderr_tail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "assay/supervise/signal_name.h"

namespace assay {
namespace {

std::string last_words_of(const std::string& text) {
  StderrTail words;
  words.append(text);
  return words.text();
}

TEST(StderrTail, AreKeptWholeWhenShort) {
  EXPECT_EQ(last_words_of(""), "");
  EXPECT_EQ(last_words_of("no end of line"), "no end of line");
  const std::string full(StderrTail::kKeptBytes, 'x');
  EXPECT_EQ(last_words_of(full), full);
}

TEST(StderrTail, BeginWithALineWhenCut) {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += "line " + std::to_string(i) + "\n";
  }
  const auto words = last_words_of(text);
  EXPECT_TRUE(words.starts_with("…line "));
  EXPECT_TRUE(words.ends_with("line 999\n"));
  EXPECT_LE(words.size(), StderrTail::kKeptBytes + 3);
  EXPECT_GE(words.size(), StderrTail::kKeptBytes - 20);
}

TEST(StderrTail, AreTheSameHoweverTheyArrive) {
  std::string text;
  StderrTail pieces;
  for (int i = 0; i < 9000; ++i) {
    const auto line = "line " + std::to_string(i) + "\n";
    text += line;
    pieces.append(line);
  }
  EXPECT_EQ(pieces.text(), last_words_of(text));
}

TEST(StderrTail, KeepTheEndOfALineThatNeverEnds) {
  const auto words = last_words_of(std::string(100'000, 'x') + "end");
  EXPECT_EQ(words, "…" + std::string(StderrTail::kKeptBytes - 3, 'x') + "end");
}

TEST(StderrTail, LoseTheNoiseOfCpuinfo) {
  const std::string noise =
      "Error in cpuinfo: failed to parse the list of possible processors\n"
      "Error in cpuinfo: failed to parse the list of present processors\n";
  EXPECT_EQ(last_words_of(noise), "");
  EXPECT_EQ(last_words_of(noise + "Segmentation fault\n"), "Segmentation fault\n");
  EXPECT_EQ(last_words_of("first\n" + noise), "first\n" + noise);
}

TEST(StderrTail, AreAlwaysUtf8) { EXPECT_EQ(last_words_of("a\xFF\xFE z"), "a\uFFFD\uFFFD z"); }

TEST(SignalName, IsTheOneOfTheHeader) {
  EXPECT_EQ(signal_name(0), "");
  EXPECT_EQ(signal_name(11), "SIGSEGV");
  EXPECT_EQ(signal_name(9), "SIGKILL");
  EXPECT_EQ(signal_name(200), "signal 200");
}

}  // namespace
}  // namespace assay
