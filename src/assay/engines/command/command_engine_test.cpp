#include "assay/engines/command/command_engine.h"

#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/engines/command/command_program.h"
#include "assay/engines/command/printed_values.h"
#include "assay/record/launch.h"
#include "assay/tensor/dtype.h"
#include "assay/tensor/tensor.h"

namespace assay::command {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A benchmark of somebody's: copies its input to its output and prints a time an inference.
constexpr const char* kScript = R"(#!/bin/sh
cp "$1" "$2"
i=0
while [ $i -lt "$3" ]; do i=$((i + 1)); echo "inference $i took $i.5 us"; done
)";

class Command : public testing::Test {
 protected:
  Command() { write_script(kScript); }

  void write_script(const std::string& text) {
    EXPECT_TRUE(write_file_atomically(folder_.path() / "bench.sh", text));
    std::filesystem::permissions(folder_.path() / "bench.sh", std::filesystem::perms::owner_all);
  }

  Result<std::unique_ptr<Session>> load(const Json& more = Json::object(),
                                        Json options = Json::object()) {
    const Json spec = {{"name", "x"}, {"dtype", "float32"}, {"shape", {1, 3}}};
    Json program = {{"argv", {"./bench.sh", "{input:0}", "{output:0}", "{iterations}"}},
                    {"inputs", {spec}},
                    {"outputs", {spec}},
                    {"time_pattern", "took ([0-9.]+) us"},
                    {"time_unit", "us"}};
    program.update(more);
    std::erase_if(program.get_ref<Json::object_t&>(),
                  [](const auto& entry) { return entry.second.is_null(); });
    const auto path = folder_.path() / "p.command.json";
    EXPECT_TRUE(write_file_atomically(path, program.dump()));
    return CommandEngine().load({.entry = path, .options = std::move(options)});
  }

  ErrorCode code_of(const Json& more, Json options = Json::object()) {
    const auto session = load(more, std::move(options));
    return session ? ErrorCode::kInternal : session.error().code;
  }

  Tensor input_ = tensor_from_doubles(std::vector<double>{1, 2, 3}, {1, 3}, Dtype::kFloat32);
  TemporaryFolder folder_ = TemporaryFolder::make("command").value();
};

TEST_F(Command, ReadsItsInputsAndLeavesItsOutputs) {
  for (const auto* format : {"raw", "npy"}) {
    const auto session = load({{"file_format", format}}).value();
    ASSERT_TRUE(session->bind(std::vector{input_.view()}));
    ASSERT_TRUE(session->execute());
    const auto outputs = session->fetch().value();
    EXPECT_THAT(doubles_from_tensor(outputs.front()), ElementsAre(1, 2, 3)) << format;
  }
}

TEST_F(Command, TellsTheTimesThatItPrints) {
  const auto session = load().value();
  ASSERT_TRUE(session->bind(std::vector{input_.view()}));
  auto* timer = find_extension<SelfTimer>(*session);
  const auto times = timer->time_inferences({.warmup = 1, .iterations = 1}).value();
  EXPECT_THAT(times.ns, ElementsAre(1500, 2500, 3500));
  EXPECT_EQ(times.clock_resolution_ns, 100);
}

/// Reads what a command prints, with a pattern that takes any word.
Result<PrintedValues> times_printed_as(const std::string& text,
                                       const std::string& pattern = "took (\\S+) ms") {
  const TemporaryFolder folder = TemporaryFolder::make("command").value();
  const auto path = folder.path() / "p.command.json";
  const Json program = {{"argv", {"true"}}, {"time_pattern", pattern}};
  EXPECT_TRUE(write_file_atomically(path, program.dump()));
  return values_from_printed(read_command_program(path).value(), text);
}

TEST(PrintedTimes, AreWholeDecimalNumbersAndNothingElse) {
  for (const auto* word : {"...", "1.234.567", "nan", "inf", "-inf", "1,5", "-1", "-0", "0x10",
                           "+1", "1e300", "3.5x", "9999999999"}) {
    const auto times = times_printed_as(fmt::format("took {} ms", word));
    ASSERT_FALSE(times) << word;
    EXPECT_EQ(times.error().code, ErrorCode::kEngine);
    EXPECT_THAT(times.error().message, HasSubstr(fmt::format("'{}'", word)));
    EXPECT_THAT(times.error().message, HasSubstr("took (\\S+) ms"));
  }
}

TEST(PrintedTimes, AreNoPartsOfLongerNumbers) {
  for (const auto& [text, pattern] :
       {std::pair("1.234,5 ms", "([0-9.]+) ms"), std::pair("1,234.5 ms", "([0-9.]+) ms"),
        std::pair("12.5 ms", "([0-9]+) ms"), std::pair("5.2e-05 ms", "([0-9.]+) ms"),
        std::pair("took 12.5", "took ([0-9]+)"), std::pair("took 5.2e-05", "took ([0-9.]+)"),
        std::pair("took 12.5", "([0-9]+)")}) {
    const auto times = times_printed_as(text, pattern);
    ASSERT_FALSE(times) << text << " by " << pattern;
    EXPECT_EQ(times.error().code, ErrorCode::kEngine);
    EXPECT_THAT(times.error().message, HasSubstr("out of a longer number"));
  }
  for (const auto& [text, pattern] :
       {std::pair("1,5,2", "1,([0-9]+),"), std::pair("5,6", "^([0-9]+)"),
        std::pair("ran 2 in 5.", "in ([0-9.]+[0-9]|[0-9])"), std::pair("a1-5ms", "-([0-9]+)")}) {
    const auto times = times_printed_as(text, pattern);
    ASSERT_TRUE(times) << text << " by " << pattern << ": " << times.error().message;
    EXPECT_THAT(times->times_ns, ElementsAre(5'000'000)) << text;
  }
  EXPECT_THAT(times_printed_as("1,2,3", "([0-9]+),?")->times_ns,
              ElementsAre(1'000'000, 2'000'000, 3'000'000));
}

TEST(PrintedTimes, TellTheStepOfTheirLastDigit) {
  EXPECT_EQ(times_printed_as("took 12.50 ms")->clock_resolution_ns, 10'000);
  EXPECT_EQ(times_printed_as("took 12 ms")->clock_resolution_ns, 1'000'000);
  EXPECT_THAT(times_printed_as("took 0 ms")->times_ns, ElementsAre(0));
}

TEST(PrintedTimes, TellTheStepOfAnExponentAndOfTheFinestTime) {
  EXPECT_EQ(times_printed_as("took 5.23e-05 ms")->clock_resolution_ns, 1) << "below a nanosecond";
  EXPECT_EQ(times_printed_as("took 5.23e-02 ms")->clock_resolution_ns, 100);
  EXPECT_EQ(times_printed_as("took 5.23E+1 ms")->clock_resolution_ns, 100'000);
  EXPECT_EQ(times_printed_as("took 1e3 ms")->clock_resolution_ns, 1'000'000'000);
  EXPECT_EQ(times_printed_as("took 1e6 ms")->clock_resolution_ns, 1'000'000'000);
  const auto mixed = times_printed_as("took 0.1 ms\ntook 0.10001 ms\ntook 0 ms");
  EXPECT_EQ(mixed->clock_resolution_ns, 10) << "std::cout leaves out the zeros at the end";
}

TEST(PrintedTimes, AreFoundInLinesWhateverThePattern) {
  EXPECT_THAT(times_printed_as("loading\rtook 2 ms\r\n")->times_ns, ElementsAre(2'000'000));
  const auto noise = std::string(5'000'000, 'a');
  EXPECT_THAT(times_printed_as(noise + "\ntook 2 ms", "(?:a|aa)*took (\\d+) ms")->times_ns,
              ElementsAre(2'000'000));
  const auto beyond = times_printed_as(noise + " took 2 ms", "took (.+) ms").value();
  EXPECT_THAT(beyond.times_ns, IsEmpty());
  EXPECT_TRUE(beyond.has_long_lines);
}

TEST(PrintedTimes, TakeNoTimeThatGrowsExponentially) {
  const auto times = times_printed_as(std::string(64, 'a') + "!", "(?:a+)+(b)$");
  EXPECT_THAT(times->times_ns, IsEmpty());
}

TEST_F(Command, SaysWhatItPrintedInPlaceOfTimes) {
  const auto session = load({{"time_pattern", "(nothing like this)"}}).value();
  ASSERT_TRUE(session->bind(std::vector{input_.view()}));
  const auto times =
      find_extension<SelfTimer>(*session)->time_inferences({.warmup = 0, .iterations = 1});
  EXPECT_EQ(times.error().code, ErrorCode::kEngine);
  EXPECT_THAT(times.error().message, HasSubstr("0 times of 2"));
  EXPECT_THAT(times.error().message, HasSubstr("inference 1 took"));
}

TEST_F(Command, CannotBeTimedWithoutAPattern) {
  const auto session = load({{"time_pattern", ""}}).value();
  EXPECT_EQ(find_extension<SelfTimer>(*session)
                ->time_inferences({.warmup = 0, .iterations = 1})
                .error()
                .code,
            ErrorCode::kUnsupported);
}

/// Times a program that runs the script, with keys of its own.
Result<SelfTimer::Times> timed(Session& session, int warmup, int iterations) {
  EXPECT_TRUE(session.bind({}));
  return find_extension<SelfTimer>(session)->time_inferences(
      {.warmup = warmup, .iterations = iterations});
}

TEST_F(Command, ThatIsToldItsWarmupTellsTheOtherTimesAlone) {
  const auto session = load({{"inputs", Json::array()},
                             {"argv",
                              {"sh", "-c",
                               "for i in $(seq {iterations}); do "
                               "echo $i took $i us; done; "
                               "echo asked for {warmup}"}},
                             {"metrics", {{"warm", {{"pattern", "asked for ([0-9]+)"}}}}}})
                           .value();
  const auto times = timed(*session, 4, 3).value();
  EXPECT_EQ(times.told, TimesTold::kSteady);
  EXPECT_THAT(times.ns, ElementsAre(1000, 2000, 3000));
  EXPECT_EQ(times.metrics.at(0).value, 4);
}

TEST_F(Command, ThatPrintsNoTimeOfAnInferenceTellsItsMetrics) {
  const auto session = load({{"inputs", Json::array()},
                             {"argv", {"sh", "-c", "echo min 1.5 ms avg 2 ms >&2"}},
                             {"reads", "stderr"},
                             {"time_pattern", ""},
                             {"metrics",
                              {{"min", {{"pattern", "min ([0-9.]+)"}, {"unit", "ms"}}},
                               {"avg", {{"pattern", "avg ([0-9.]+)"}, {"unit", "ms"}}}}}})
                           .value();
  const auto times = timed(*session, 4, 3).value();
  EXPECT_EQ(times.told, TimesTold::kNone);
  EXPECT_THAT(times.ns, IsEmpty());
  EXPECT_EQ(times.metrics.at(0).value, 2e6);
  EXPECT_EQ(times.metrics.at(1).value, 1.5e6);
}

TEST_F(Command, TellsTheOperatorsOfAllInferencesOfOneProcess) {
  const auto session = load({{"inputs", Json::array()},
                             {"argv",
                              {"sh", "-c",
                               "for i in $(seq {iterations}); do "
                               "echo conv: 2 us; echo $i took 3 us; done"}},
                             {"operator_pattern", "(\\w+): ([0-9.]+) us"}})
                           .value();
  ASSERT_TRUE(session->bind({}));
  const auto report = find_extension<SelfProfiler>(*session)->profile_inferences(5).value();
  EXPECT_EQ(report.iterations, 5);
  EXPECT_EQ(report.method_median_ns, 3000);
  EXPECT_EQ(report.events.at(0).name, "conv");
  EXPECT_EQ(report.events.at(0).count, 5);
}

TEST_F(Command, WithoutAPatternOfOperatorsHasNoProfile) {
  const auto session = load({{"inputs", Json::array()}, {"argv", {"true"}}}).value();
  const auto report = find_extension<SelfProfiler>(*session)->profile_inferences(2);
  EXPECT_EQ(report.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(report.error().message, HasSubstr("operator_pattern"));
}

TEST_F(Command, RunsWithTheVariablesOfItsProgram) {
  const auto session = load({{"inputs", Json::array()},
                             {"argv", {"sh", "-c", "echo 1 took $THREADS us"}},
                             {"env", {{"THREADS", "8"}}}})
                           .value();
  EXPECT_THAT(timed(*session, 0, 1)->ns, ElementsAre(8000));
}

TEST_F(Command, RunsItsStepsInOrderAndReadsAllOfTheirOutputs) {
  const auto session = load({{"inputs", Json::array()},
                             {"argv", nullptr},
                             {"steps",
                              {{"sh", "-c", "echo 7 took 7 us > {scratch:host}/times"},
                               {"sh", "-c", "echo 5 took 5 us"}}},
                             {"read_files", {"{scratch:host}/times"}}})
                           .value();
  EXPECT_THAT(timed(*session, 0, 1)->ns, ElementsAre(5000, 7000));
}

TEST_F(Command, ChecksTheFilesThatItNamesAtEachLoad) {
  const auto file = folder_.path() / "graph.bin";
  const Json places = {{"graph", file.string()}};
  ASSERT_TRUE(write_file_atomically(file, "abc"));
  ASSERT_TRUE(write_file_atomically(folder_.path() / "p.command.places.json", places.dump()));
  const Json keys = {{"places", {{"graph", {{"md5", "900150983cd24fb0d6963f7d28e17f72"}}}}}};
  const auto session = load(keys);
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_THAT((*session)->report().notes.back(), HasSubstr("graph is " + file.string()));
  ASSERT_TRUE(write_file_atomically(file, "abd"));
  const auto damaged = load(keys);
  EXPECT_EQ(damaged.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(damaged.error().message, HasSubstr("900150983cd24fb0d6963f7d28e17f72"));
  EXPECT_THAT(damaged.error().message, HasSubstr("4911e516e5aa21d327512e0c8b197616"));
  EXPECT_EQ(code_of({{"places", {{"other", Json::object()}}}}), ErrorCode::kNotFound);
}

TEST_F(Command, SaysWhyItCannotRunAtAll) {
  const auto session = load({{"unsupported", "power needs a meter"}});
  EXPECT_EQ(session.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(session.error().message, "power needs a meter");
}

TEST_F(Command, PassesItsLastWordsOn) {
  const auto session = load({{"argv", {"sh", "-c", "echo no such model >&2; exit 7"}}}).value();
  ASSERT_TRUE(session->bind(std::vector{input_.view()}));
  const auto status = session->execute();
  EXPECT_THAT(status.error().message, HasSubstr("exit code 7: no such model"));
}

TEST_F(Command, TakesNoOutputOfAnEarlierInference) {
  constexpr const char* kOnce = R"(#!/bin/sh
done=$(dirname "$0")/done
test -e "$done" && { echo "cannot open device" >&2; exit 0; }
touch "$done"
cp "$1" "$2"
)";
  write_script(kOnce);
  for (const auto* format : {"raw", "npy"}) {
    std::filesystem::remove(folder_.path() / "done");
    const auto session = load({{"file_format", format}}).value();
    ASSERT_TRUE(session->bind(std::vector{input_.view()}));
    ASSERT_TRUE(session->execute());
    ASSERT_TRUE(session->fetch());
    ASSERT_TRUE(session->execute());
    EXPECT_FALSE(session->fetch()) << format;
  }
}

TEST_F(Command, TakesNoNumbersOfAnEarlierRun) {
  constexpr const char* kOnce = R"(#!/bin/sh
result=$(dirname "$0")/result.txt
test -e "$result" || echo "p99 7.5 ms" > "$result"
echo "again" >> "$1"/log
test $(wc -l < "$1"/log) = 1
)";
  write_script(kOnce);
  const Json more = {{"argv", {"./bench.sh", "{scratch:work}"}},
                     {"read_files", {"{folder}/result.txt"}},
                     {"metrics", {{"p99", {{"pattern", "p99 (\\S+) ms"}, {"unit", "ms"}}}}},
                     {"time_pattern", nullptr},
                     {"time_unit", nullptr}};
  const auto session = load(more).value();
  auto* timer = find_extension<SelfTimer>(*session);
  const auto first = timer->time_inferences({.iterations = 1});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->metrics.at(0).value, 7.5e6);
  const auto again = timer->time_inferences({.iterations = 1});
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("did not write"));
  EXPECT_THAT(again.error().message, HasSubstr("result.txt"));
  std::filesystem::remove(folder_.path() / "result.txt");
  EXPECT_TRUE(timer->time_inferences({.iterations = 1})) << "the scratch folder is empty, too";
}

TEST_F(Command, GetsAnotherScratchFolderWhereOneCannotBeEmptied) {
  if (geteuid() == 0) {
    GTEST_SKIP() << "root removes everything";
  }
  write_script(
      "#!/bin/sh\nls -A \"$1\"\nmkdir \"$1\"/left; touch \"$1\"/left/a; chmod 500 \"$1\"/left\n"
      "echo 1 took 1 us\n");
  const auto session =
      load({{"inputs", Json::array()}, {"argv", {"./bench.sh", "{scratch:work}"}}}).value();
  for (int i = 0; i < 3; ++i) {
    const auto times = timed(*session, 0, 1);
    EXPECT_TRUE(times) << times.error().message;
  }
}

TEST_F(Command, ThatASignalEndsIsACrash) {
  write_script("#!/bin/sh\nkill -SEGV $$\n");
  const auto session = load().value();
  ASSERT_TRUE(session->bind(std::vector{input_.view()}));
  const auto ran = session->execute();
  EXPECT_EQ(ran.error().code, ErrorCode::kCrashed);
  EXPECT_THAT(ran.error().message, HasSubstr("signal 11"));
}

TEST_F(Command, PrintsNumbersWithAPointUnlessTheProgramSaysOtherwise) {
  write_script("#!/bin/sh\ncp \"$1\" \"$2\"\necho \"$LC_ALL\" > \"$(dirname \"$0\")\"/where\n");
  for (const auto& [env, wanted] :
       {std::pair(Json::object(), "C.UTF-8\n"), std::pair(Json{{"LC_ALL", "de_DE"}}, "de_DE\n")}) {
    const auto session = load({{"env", env}}).value();
    ASSERT_TRUE(session->bind(std::vector{input_.view()}));
    ASSERT_TRUE(session->execute());
    EXPECT_EQ(read_file(folder_.path() / "where").value(), wanted);
  }
}

TEST_F(Command, RefusesOutputsOfAnotherSize) {
  const auto session =
      load({{"outputs", {{{"name", "y"}, {"dtype", "float32"}, {"shape", {1, 4}}}}}}).value();
  ASSERT_TRUE(session->bind(std::vector{input_.view()}));
  ASSERT_TRUE(session->execute());
  EXPECT_THAT(session->fetch().error().message,
              HasSubstr("12 bytes for output 'y', which takes 16"));
}

TEST_F(Command, RefusesProgramsThatMakeNoSense) {
  EXPECT_EQ(code_of({{"argv", Json::array()}}), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of({{"time_pattern", "took [0-9]+"}}), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of({{"time_pattern", "("}}), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of({{"time_pattern", "([0-9]+)\\1"}}), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of({{"time_pattern", std::string(2000, '(')}}), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of({{"time_unit", "h"}}), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of({{"file_format", "hdf5"}}), ErrorCode::kCorrupt);
  EXPECT_EQ(code_of({{"argv", {"true", "{input:1}"}}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of({{"argv", {"true", "{model}"}}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(CommandEngine().load({.entry = "/none.command.json"}).error().code,
            ErrorCode::kNotFound);
}

TEST_F(Command, NamesAMistypedKeyAndAWrongType) {
  const auto message_of = [this](const Json& change) { return load(change).error().message; };
  EXPECT_THAT(message_of({{"time_patern", "([0-9]+)"}}),
              HasSubstr("unknown key 'time_patern'; did you mean 'time_pattern'?"));
  EXPECT_THAT(message_of({{"argv", "true"}}), HasSubstr("\"argv\" must be a list of strings"));
  EXPECT_THAT(message_of({{"outputs", {1}}}), HasSubstr("\"outputs\" must be a list of"));
  EXPECT_TRUE(load({{"$schema", "command.schema.json"}}));
}

TEST_F(Command, TakesThreadsOnlyWhereTheCommandDoes) {
  EXPECT_EQ(code_of(Json::object(), {{"threads", 2}}), ErrorCode::kUnsupported);
  const Json with_threads = {{"argv", {"./bench.sh", "--threads={threads}"}}};
  EXPECT_EQ(code_of(with_threads), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(load(with_threads, {{"threads", 2}}));
}

}  // namespace
}  // namespace assay::command
