#include "assay/base/claims.h"

#include <filesystem>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"

namespace assay {
namespace {

class ClaimsOfTwo : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return folder_.path() / "deep" / "claims"; }
  [[nodiscard]] Claims open() const { return Claims::open(file()).value(); }

 private:
  TemporaryFolder folder_ = TemporaryFolder::make("assay-test").value();
};

TEST_F(ClaimsOfTwo, ANameIsSharedByManyAndTakenByNone) {
  auto one = open();
  auto two = open();
  auto remover = open();
  ASSERT_TRUE(one.share("a").has_value());
  ASSERT_TRUE(two.share("a").has_value());
  EXPECT_TRUE(remover.is_claimed_elsewhere("a").value());
  EXPECT_FALSE(remover.try_take("a").value());
  EXPECT_FALSE(remover.try_take_all().value());
  ASSERT_TRUE(one.release("a").has_value());
  EXPECT_FALSE(remover.try_take("a").value());
  ASSERT_TRUE(two.release("a").has_value());
  EXPECT_TRUE(remover.try_take("a").value());
}

TEST_F(ClaimsOfTwo, OneNameLeavesOthersFree) {
  auto user = open();
  auto remover = open();
  ASSERT_TRUE(user.share("a").has_value());
  EXPECT_FALSE(remover.is_claimed_elsewhere("b").value());
  EXPECT_TRUE(remover.try_take("b").value());
}

TEST_F(ClaimsOfTwo, TheOwnClaimIsInNobodysWay) {
  auto only = open();
  ASSERT_TRUE(only.share("a").has_value());
  EXPECT_FALSE(only.is_claimed_elsewhere("a").value());
  EXPECT_TRUE(only.try_take("a").value());
}

TEST_F(ClaimsOfTwo, ClaimsEndWithTheObject) {
  auto remover = open();
  {
    auto user = open();
    ASSERT_TRUE(user.share("a").has_value());
    EXPECT_FALSE(remover.try_take("a").value());
  }
  EXPECT_TRUE(remover.try_take_all().value());
  ASSERT_TRUE(remover.release_all().has_value());
  EXPECT_TRUE(open().try_take("a").value());
}

TEST_F(ClaimsOfTwo, ClaimsEndWithTheProcess) {
  auto remover = open();
  const auto child = ::fork();
  if (child == 0) {
    auto user = open();
    ::_exit(user.share("a").has_value() && !remover.try_take("a").value() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(remover.try_take("a").value());
}

TEST_F(ClaimsOfTwo, LookingMakesNoFile) {
  EXPECT_EQ(Claims::open_existing(file()).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(file()));
}

}  // namespace
}  // namespace assay
