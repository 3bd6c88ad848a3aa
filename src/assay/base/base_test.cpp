#include <cstdint>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/clock_step.h"
#include "assay/base/digest.h"
#include "assay/base/error_code_names.h"
#include "assay/base/find_on_path.h"
#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/json_members.h"
#include "assay/base/python_command.h"
#include "assay/base/relative_path.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/base/suggest.h"
#include "assay/base/units.h"
#include "assay/base/uuid.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// The vectors of FIPS 180-4 and RFC 3720 B.4.
TEST(Digest, MatchesPublishedVectors) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(crc32c({bytes_of("123456789")}), 0xE3069283U);
  EXPECT_EQ(crc32c({bytes_of(std::string(32, '\0'))}), 0x8A9136AAU);
}

TEST(Digest, TakesTheCrcOfPartsAsIfTheyWereOnePiece) {
  EXPECT_EQ(crc32c({bytes_of("12345"), bytes_of("6789")}), crc32c({bytes_of("123456789")}));
}

TEST(Digest, OfAFileEqualsDigestOfItsContent) {
  const auto folder = TemporaryFolder::make("assay-test").value();
  const auto path = folder.path() / "a" / "b.bin";
  ASSERT_TRUE(write_file_atomically(path, "abc"));
  EXPECT_EQ(sha256_hex_of_file(path).value(), sha256_hex("abc"));
  EXPECT_EQ(sha256_hex_of_file(folder.path() / "none").error().code, ErrorCode::kNotFound);
}

TEST(Uuid7, HasVersionAndVariantAndSortsByTime) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto id = make_uuid7();
    ASSERT_EQ(id.size(), 36U);
    EXPECT_EQ(id[14], '7');
    EXPECT_THAT(std::string("89ab"), HasSubstr(std::string(1, id[19])));
    seen.insert(id);
  }
  EXPECT_EQ(seen.size(), 1000U);
}

TEST(Json, CanonicalFormDoesNotDependOnOrderOrSpace) {
  const auto a = parse_json(R"({"b": 1, "a": [1, 2]})", "a.json").value();
  const auto b = parse_json("{\"a\":[1,2], // comment\n \"b\":1}", "b.json").value();
  EXPECT_EQ(canonical_json(a), R"({"a":[1,2],"b":1})");
  EXPECT_EQ(digest_of_json(a), digest_of_json(b));
}

TEST(Json, SaysWhereAFileIsBroken) {
  const auto broken = parse_json("{\"a\": }", "x.json");
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, HasSubstr("x.json"));
  EXPECT_THAT(broken.error().message, HasSubstr("line 1, column 7"));
}

TEST(Json, RefusesANumberThatIsTooBigWithoutThrowing) {
  const auto huge = parse_json("{\"a\": 1e999}", "x.json");
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(huge.error().message, HasSubstr("number overflow"));
}

TEST(Fs, ReplacesAFileWholeOrNotAtAll) {
  const auto folder = TemporaryFolder::make("assay-test").value();
  const auto path = folder.path() / "x";
  ASSERT_TRUE(write_file_atomically(path, "one"));
  ASSERT_TRUE(write_file_atomically(path, "two"));
  EXPECT_EQ(read_file(path).value(), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Fs, RemovesATemporaryFolderWithItsContent) {
  std::filesystem::path path;
  {
    const auto folder = TemporaryFolder::make("assay-test").value();
    path = folder.path();
    ASSERT_TRUE(write_file_atomically(path / "sub" / "x", "1"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Subprocess, CollectsOutputAndExitCode) {
  const auto output =
      run_command({.argv = {"sh", "-c", "echo $GREETING; exit 3"}, .env = {{"GREETING", "hello"}}},
                  std::chrono::seconds(10))
          .value();
  EXPECT_EQ(output.output, "hello\n");
  EXPECT_EQ(output.exit_code, 3);
}

/// Runs Python in `folder`, without the variable that only newer interpreters heed.
std::string run_python(const std::filesystem::path& folder, const std::vector<std::string>& argv) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  const auto output =
      run_command({.argv = argv, .env = {{"PYTHONSAFEPATH", ""}}}, std::chrono::seconds(30));
  std::filesystem::current_path(before);
  return output ? output->output : output.error().message;
}

TEST(PythonCommand, RunsNothingThatLiesInTheCurrentFolder) {
  const auto folder = TemporaryFolder::make("assay-test").value();
  for (const auto* name : {"json.py", "runpy.py", "decimal.py", "textwrap.py"}) {
    ASSERT_TRUE(write_file_atomically(folder.path() / name, "print('hijacked')\n"));
  }
  const std::filesystem::path python("python3");
  EXPECT_EQ(run_python(folder.path(), {"python3", "-c", "import textwrap"}), "hijacked\n");
  EXPECT_EQ(
      run_python(folder.path(), python_text_argv(python, "import json, textwrap; print('sound')")),
      "sound\n");
  EXPECT_THAT(run_python(folder.path(), python_module_argv(python, "json.tool", {"--help"})),
              AllOf(HasSubstr("usage"), HasSubstr("--sort-keys"), Not(HasSubstr("hijacked"))));
}

TEST(Subprocess, KeepsALastLineWithoutItsEnd) {
  const auto printed = run_command({.argv = {"printf", "one\\ntwo"}}, std::chrono::seconds(10));
  EXPECT_EQ(printed.value().output, "one\ntwo\n");
}

TEST(Subprocess, SaysWhatCannotBeRun) {
  const auto missing = run_command({.argv = {"/no/such/program"}}, std::chrono::seconds(10));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("/no/such/program"));
}

TEST(Subprocess, EndsACommandAtItsDeadline) {
  const auto late = run_command({.argv = {"sleep", "60"}}, std::chrono::milliseconds(50));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kTimeout);
}

TEST(Subprocess, TalksLineByLine) {
  auto cat = Subprocess::start({.argv = {"cat"}}).value();
  ASSERT_TRUE(cat.write("one\ntwo\n"));
  EXPECT_EQ(cat.read_line(std::chrono::seconds(10)).value(), "one");
  EXPECT_EQ(cat.read_line(std::chrono::seconds(10)).value(), "two");
  cat.close_stdin();
  EXPECT_EQ(cat.read_line(std::chrono::seconds(10)).value(), std::nullopt);
  EXPECT_TRUE(cat.is_at_end());
  EXPECT_EQ(cat.wait(), 0);
}

TEST(Suggest, NamesTheNearestOrListsWhatThereIs) {
  const std::vector<std::string> known = {"executorch/portable", "executorch/xnnpack-fp32"};
  EXPECT_EQ(suggestion_for("executorch/xnnpak-fp32", known),
            "; did you mean 'executorch/xnnpack-fp32'?");
  EXPECT_EQ(suggestion_for("xnnpack-fp32", known), "; did you mean 'executorch/xnnpack-fp32'?");
  EXPECT_EQ(find_nearest_name("benhc", std::vector<std::string>{"bench", "eval"}), "bench");
  EXPECT_EQ(find_nearest_name("zzz", known), "");
  EXPECT_EQ(suggestion_for("zzz", std::vector<std::string>{"a", "b", "a"}), "; known: a, b");
  EXPECT_THAT(suggestion_for("zzz", known), HasSubstr("known: executorch/portable, "));
}

TEST(Units, ReadsADurationOnlyWithItsUnit) {
  EXPECT_EQ(duration_ns_from_text("1.5ms").value(), 1'500'000);
  EXPECT_EQ(duration_ns_from_text("2us").value(), 2'000);
  EXPECT_EQ(duration_ns_from_text("2µs").value(), 2'000) << "as it is shown";
  EXPECT_EQ(duration_ns_from_text("2min").value(), 120'000'000'000);
  EXPECT_EQ(duration_ns_from_text("1d").value(), 86'400'000'000'000);
  for (const auto* bad : {"20", "ms", "", "-1s", "20 s", "1w"}) {
    EXPECT_FALSE(duration_ns_from_text(bad)) << bad;
  }
}

TEST(Units, TellsTheRangeOfADuration) {
  EXPECT_EQ(duration_ns_from_text("8760h").value(), 31'536'000'000'000'000);
  EXPECT_EQ(duration_ns_from_text("365d").value(), 31'536'000'000'000'000);
  for (const auto* bad : {"2562048h", "1e300s", "1e999s", "infs", "nans", "-1s", "8760.1h"}) {
    const auto duration = duration_ns_from_text(bad);
    ASSERT_FALSE(duration) << bad;
    EXPECT_THAT(duration.error().message, HasSubstr("from 0s to 8760h")) << bad;
  }
}

TEST(Units, ReadsASizeInItsRange) {
  EXPECT_EQ(bytes_from_text("500MB").value(), 500'000'000);
  EXPECT_EQ(bytes_from_text("2GiB").value(), 2LL << 30);
  EXPECT_EQ(bytes_from_text("1.5kb").value(), 1500);
  EXPECT_EQ(bytes_from_text("4096B").value(), 4096);
  for (const auto* bad : {"-1B", "0B", "1e30B", "infB", "nanB", "1001TB", "1e400B"}) {
    const auto size = bytes_from_text(bad);
    ASSERT_FALSE(size) << bad;
    EXPECT_THAT(size.error().message, HasSubstr("from 1B to 1000TB")) << bad;
  }
  for (const auto* bad : {"16EB", "500", "0", ""}) {
    const auto size = bytes_from_text(bad);
    ASSERT_FALSE(size) << bad;
    EXPECT_THAT(size.error().message, HasSubstr("write a number and a unit")) << bad;
  }
}

TEST(Units, ShowsThreeSignificantDigits) {
  EXPECT_EQ(text_from_duration_ns(12'345'678), "12.3 ms");
  EXPECT_EQ(text_from_duration_ns(950), "950 ns");
  EXPECT_EQ(text_from_duration_ns(1'500), "1.50 µs");
  EXPECT_EQ(text_from_bytes(14'123'456), "14.1 MB");
  EXPECT_EQ(text_from_bytes(0), "0 B");
}

TEST(RelativePath, StaysBelowItsFolderOrNot) {
  for (const auto* inside : {"a", "lib/a.so", "./a", "lib/../a", "..a"}) {
    EXPECT_TRUE(stays_below(inside)) << inside;
  }
  for (const auto* outside : {"", "/a", "..", "../a", "lib/../../a"}) {
    EXPECT_FALSE(stays_below(outside)) << outside;
  }
}

TEST(RelativePath, IsWhatFollowsTheFolderThatItLiesBelow) {
  EXPECT_EQ(path_below("/a/b/c", "/a"), "b/c");
  EXPECT_EQ(path_below("/a/b/../c", "/a/"), "c");
  EXPECT_EQ(path_below("/a", "/a/"), "");
  EXPECT_EQ(path_below("/a/b", "/"), "a/b");
  EXPECT_EQ(path_below("https://models.example/x//y", "https://models.example"), "x/y");
  for (const auto* outside : {"/ab/c", "/a/../b", "/", "a/b", ""}) {
    EXPECT_EQ(path_below(outside, "/a"), std::nullopt) << outside;
  }
  EXPECT_EQ(path_below("/a", ""), std::nullopt);
}

TEST(FindOnPath, TakesNoFolderForAProgram) {
  EXPECT_TRUE(find_on_path("/bin/sh"));
  EXPECT_TRUE(find_on_path("sh"));
  EXPECT_EQ(find_on_path("/bin"), std::nullopt) << "X_OK says of a folder that it may be searched";
}

TEST(EnumNames, GoBothWaysAndListThemselvesOnATypo) {
  EXPECT_EQ(name_of(ErrorCode::kTimeout), "timeout");
  EXPECT_EQ(enum_from_name<ErrorCode>("timeout").value(), ErrorCode::kTimeout);
  EXPECT_THAT(enum_from_name<ErrorCode>("time_out").error().message,
              HasSubstr("not_found, unsupported"));
}

TEST(Clock, HasTheSmallestOfManySteps) {
  std::int64_t ns = 0;
  int reading = 0;
  const auto clock = [&] { return ns += ++reading % 7 == 0 ? 21 : 30; };
  EXPECT_EQ(smallest_step_ns(clock, [] { return true; }), 21);
  EXPECT_GE(reading, 2000);
}

TEST(Clock, IsReadUntilItMovesHoweverCoarseItIs) {
  // Ten million readings a tick of 10 ms, as where a timer's interrupt moves the clock.
  std::int64_t reading = 0;
  const auto clock = [&] { return ++reading / 100'000 * 10'000'000; };
  EXPECT_EQ(smallest_step_ns(clock, [] { return false; }), 10'000'000);
}

TEST(Clock, ThatStandsStillHasNoStep) {
  int asked = 0;
  EXPECT_EQ(smallest_step_ns([] { return 5; }, [&asked] { return ++asked > 3; }), std::nullopt);
}

TEST(Clock, OfThisMachineMovesInStepsOfASecondAtMost) {
  const auto step_ns = measure_clock_resolution_ns();
  EXPECT_GE(step_ns, 1);
  EXPECT_LE(step_ns, 1'000'000'000);
}

TEST(JsonMembers, AreShownOneAfterTheOther) {
  std::vector<std::string> seen;
  const auto visit = [&seen](const std::string& name, const Json& value) -> Status {
    seen.push_back(name + "=" + value.dump());
    return name == "bad" ? Status(fail(ErrorCode::kCorrupt, "no more")) : Status();
  };
  const auto visited = [&](std::string_view text) {
    return visit_members(text, "it", JsonComments::kRefused, visit);
  };
  EXPECT_TRUE(visited(R"({"b": {"x": [1, {"y": 2}]}, "a": 3, "c": [], "": null})"));
  EXPECT_THAT(seen, testing::ElementsAre(R"(b={"x":[1,{"y":2}]})", "a=3", "c=[]", "=null"));
  EXPECT_EQ(visited(R"({"bad": 1, "a": 2})").error().message, "no more");
  EXPECT_THAT(visited(R"({"a": 1, "a": 2})").error().message, testing::HasSubstr("duplicate"));
  EXPECT_THAT(visited("[1]").error().message, testing::HasSubstr("not a JSON object"));
  EXPECT_FALSE(visited(R"({"a": 1)"));
}

}  // namespace
}  // namespace assay
