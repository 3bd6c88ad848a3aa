#include "assay/store/postgres/errors.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "assay/base/result.h"

namespace assay::postgres {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string told(const std::string& message) {
  const auto error = error_from_server("store 'S'", "", message);
  EXPECT_EQ(error.code, ErrorCode::kUnavailable);
  return error.message;
}

TEST(PostgresErrors, SayWhatLacksAtConnecting) {
  EXPECT_THAT(told("FATAL:  role \"bot\" does not exist"), HasSubstr("createuser"));
  EXPECT_THAT(told("FATAL:  database \"results\" does not exist"), HasSubstr("createdb"));
  EXPECT_THAT(told("fe_sendauth: no password supplied"), HasSubstr("~/.pgpass"));
  EXPECT_THAT(told("FATAL:  no pg_hba.conf entry for host"), HasSubstr("pg_hba.conf has to admit"));
  EXPECT_THAT(told("something new"), HasSubstr("is the server running"));
}

TEST(PostgresErrors, AskWhetherTheServerRunsOnce) {
  const auto text = told(
      "connection to server at \"127.0.0.1\", port 1 failed: Connection refused Is the server "
      "running on that host and accepting TCP/IP connections?");
  EXPECT_EQ(std::ranges::count(text, '?'), 1) << text;
  EXPECT_THAT(text, HasSubstr("another host and port"));
}

TEST(PostgresErrors, DoNotPromiseThatAGrantLetsARoleRemove) {
  const auto error = error_from_server("S", "42501", "permission denied for table attachment");
  EXPECT_THAT(error.message, HasSubstr("all else is the owner's"));
  EXPECT_THAT(error.message, Not(HasSubstr("can allow it")));
}

TEST(PostgresErrors, NeverTakeAnUnknownEndOfATransactionForNone) {
  EXPECT_TRUE(was_committed_from_state("S", "committed").value());
  EXPECT_FALSE(was_committed_from_state("S", "aborted").value());
  for (const auto* const state : {"in progress", ""}) {
    const auto known = was_committed_from_state("store 'S'", state);
    ASSERT_FALSE(known.has_value()) << state;
    EXPECT_EQ(known.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(known.error().message, HasSubstr("--resume"));
  }
}

}  // namespace
}  // namespace assay::postgres
