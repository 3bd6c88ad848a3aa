#include "assay/campaign/takeover.h"

#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/uuid.h"
#include "assay/record/case.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kHourNs = 3'600'000'000'000;

Environment machine_of(std::string_view cpu) {
  Environment machine;
  machine.id = std::string("id of ") + std::string(cpu);
  machine.cpu_model = cpu;
  machine.kernel = "6.1";
  machine.details["smt"] = "on";
  return machine;
}

/// A run of one case on the machine "old", in a file that two processes have open.
class Takeover : public testing::Test {
 protected:
  void SetUp() override {
    const auto old = machine_of("old");
    run_ = {.id = make_uuid7(), .environment = old.id, .environment_key = environment_key(old)};
    ASSERT_TRUE(first_->add_environment(old));
    ASSERT_TRUE(first_->add_run(run_));
    ASSERT_TRUE(first_->add_case(run_.id, cell_));
  }

  std::unique_ptr<ResultStore> open() const {
    return open_sqlite_store(folder_.path() / "store.db").value();
  }
  /// Leaves what the first process does while it makes a launch.
  void lease(std::int64_t until_unix_ns) {
    ASSERT_TRUE(first_->put_attempt({.id = make_uuid7(),
                                     .run = run_.id,
                                     .case_key = case_key(cell_),
                                     .worker = "local",
                                     .lease_until_unix_ns = until_unix_ns}));
  }
  Result<std::vector<std::string>> check(std::string_view cpu, bool is_run_named = false) {
    return check_machine(machine_of(cpu), is_run_named);
  }
  Result<std::vector<std::string>> check_machine(const Environment& machine, bool is_run_named) {
    return check_takeover(run_, *second_,
                          {.machines = {{"local", machine}},
                           .is_run_named = is_run_named,
                           .command = "assay run --resume"});
  }

  TemporaryFolder folder_ = TemporaryFolder::make("assay-test").value();
  std::unique_ptr<ResultStore> first_ = open();
  std::unique_ptr<ResultStore> second_ = open();
  Case cell_;
  assay::Run run_;
};

TEST_F(Takeover, OfARunWhoseProcessEndedIsFree) {
  lease(unix_time_ns() + kHourNs);  // It was killed in the launch.
  first_.reset();
  EXPECT_THAT(check("old").value(), IsEmpty());
}

TEST_F(Takeover, OfARunOfALivingProcessHasToBeNamed) {
  lease(unix_time_ns() + kHourNs);
  const auto refused = check("old");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().message,
              HasSubstr("another process works on run " + run_.id + "; wait for its end"));
  EXPECT_THAT(refused.error().message, HasSubstr("assay run --resume " + run_.id));
  EXPECT_THAT(check("old", true).value(), ElementsAre(HasSubstr("another process works on run")));
}

TEST_F(Takeover, OfARunThatMakesItsProgramsHasToBeNamed) { EXPECT_FALSE(check("old")); }

TEST_F(Takeover, OfARunThatIsOnlyReadIsFree) {
  lease(0);
  EXPECT_THAT(check("old").value(), IsEmpty());
}

TEST_F(Takeover, OfARunOfAnotherMachineHasToBeNamed) {
  lease(unix_time_ns() - 1);
  first_.reset();
  const auto refused = check("new");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("a machine (old, kernel 6.1) that differs"));
  EXPECT_THAT(check("new", true).value(), ElementsAre(HasSubstr("its times are of both")));
}

TEST_F(Takeover, TellsHowLongALaunchOfAnotherMachineMayLast) {
  lease(unix_time_ns() + kHourNs);
  first_.reset();  // The claim of a process elsewhere is not seen through a file.
  EXPECT_THAT(check("new").error().message, HasSubstr("a launch of it is due until 20"));
  EXPECT_THAT(check("new", true).value(),
              ElementsAre(HasSubstr("differs from this one"), HasSubstr("due until")));
}

TEST_F(Takeover, NamesSettingsOfTheMachineThatChanged) {
  first_.reset();
  auto changed = machine_of("old");
  changed.details["smt"] = "off";
  changed.details["governor"] = "powersave";
  changed.memory_bytes = 1;
  EXPECT_THAT(
      check_machine(changed, false).value(),
      ElementsAre(HasSubstr("other settings now than when it began (memory_bytes, governor, "
                            "smt): its times are of both")));
}

}  // namespace
}  // namespace assay
