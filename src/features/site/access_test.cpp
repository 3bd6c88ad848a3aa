#include "features/site/access.h"

#include "features/site/http_server.h"

#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/store/testing/sample_records.h"

namespace assay::site {
namespace {

const Tokens kTokens{.read = "reading-reading-reading", .add = "adding-adding-adding"};

TEST(Access, GivesATokenItsOwnRightOnly) {
  EXPECT_EQ(check_access(kTokens, Right::kRead, "Bearer " + kTokens.read), Access::kAllowed);
  EXPECT_EQ(check_access(kTokens, Right::kAdd, "Bearer " + kTokens.add), Access::kAllowed);
  EXPECT_EQ(check_access(kTokens, Right::kRead, "Bearer " + kTokens.add), Access::kForbidden);
  EXPECT_EQ(check_access(kTokens, Right::kAdd, "Bearer " + kTokens.read), Access::kForbidden);
}

TEST(Access, RefusesWhatIsNoToken) {
  for (const std::string shown :
       {"", "Bearer ", "Bearer x", "reading-reading-reading", "Basic !!!", "Basic "}) {
    EXPECT_EQ(check_access(kTokens, Right::kRead, shown), Access::kUnknown) << shown;
    EXPECT_EQ(check_access(kTokens, Right::kAdd, shown), Access::kUnknown) << shown;
  }
}

TEST(Access, TakesTheTokenAsABrowsersPassword) {
  // "me:reading-reading-reading", and without a name: the padding differs.
  EXPECT_EQ(check_access(kTokens, Right::kRead, "Basic bWU6cmVhZGluZy1yZWFkaW5nLXJlYWRpbmc="),
            Access::kAllowed);
  EXPECT_EQ(check_access(kTokens, Right::kRead, "Basic OnJlYWRpbmctcmVhZGluZy1yZWFkaW5n"),
            Access::kAllowed);
}

TEST(Access, LetsNobodyAddWithoutAToken) {
  EXPECT_EQ(check_access({}, Right::kRead, ""), Access::kAllowed);
  EXPECT_EQ(check_access({}, Right::kAdd, "Bearer "), Access::kForbidden);
  EXPECT_EQ(check_access({}, Right::kAdd, "Bearer anything-anything"), Access::kForbidden);
}

TEST(Access, NeedsATokenBeyondThisMachine) {
  EXPECT_TRUE(check_exposure("127.0.0.1", {}).has_value());
  EXPECT_TRUE(check_exposure("::1", {}).has_value());
  EXPECT_TRUE(check_exposure("0.0.0.0", kTokens).has_value());
  for (const auto* address : {"0.0.0.0", "::", "192.168.1.4"}) {
    const auto status = check_exposure(address, {});
    ASSERT_FALSE(status.has_value()) << address;
    EXPECT_NE(status.error().message.find(kReadTokenVariable), std::string::npos);
  }
}

TEST(Access, KnowsNamesOfThisMachine) {
  for (const auto* host : {"localhost", "LocalHost:8040", "127.0.0.1:80", "127.9.8.7", "[::1]:80",
                           "[0:0:0:0:0:0:0:1]"}) {
    EXPECT_TRUE(is_loopback_host(host)) << host;
  }
  for (const auto* host : {"", "example.org", "localhost.example.org", "[::2]:80", "10.0.0.1"}) {
    EXPECT_FALSE(is_loopback_host(host)) << host;
  }
}

TEST(Access, TakesNoNameForAnAddress) {
  for (const auto* host :
       {"127.0.0.1.example.org", "127.example.org:80", "127.", "127.0.0.1.", "127.0.0.256",
        "127.0.0.1:80.example.org", "127.0.0.1:x", "[::1", "[::1]example.org", "[::1].example.org",
        "[::1]:80@example.org", "[127.0.0.1]", "::1", ":80"}) {
    EXPECT_FALSE(is_loopback_host(host)) << host;
  }
  for (const auto* address : {"127.example.org", "127.0.0.1.example.org", "localhost.org"}) {
    EXPECT_FALSE(is_loopback(address)) << address;
    EXPECT_FALSE(check_exposure(address, {}).has_value()) << address;
  }
}

TEST(Tokens, AreReadFromFilesWithoutTheirLineEnd) {
  const auto folder = make_store_folder();
  const auto file = folder.path() / "token";
  std::ofstream(file) << " 0123456789abcdef\n";
  EXPECT_EQ(read_tokens({.read = file}).value().read, "0123456789abcdef");
}

TEST(Tokens, MayNotBeShortEmptyOrEqual) {
  const auto folder = make_store_folder();
  const auto file = folder.path() / "token";
  std::ofstream(file) << "short";
  EXPECT_FALSE(read_tokens({.read = file}).has_value());
  std::ofstream(file) << "\n";
  EXPECT_FALSE(read_tokens({.add = file}).has_value());
  std::ofstream(file) << "0123456789abcdef";
  EXPECT_FALSE(read_tokens({.read = file, .add = file}).has_value());
}

TEST(Access, SchemesAreTakenInAnyCaseOfTheirLetters) {
  EXPECT_EQ(check_access(kTokens, Right::kRead, "bearer " + kTokens.read), Access::kAllowed);
  EXPECT_EQ(check_access(kTokens, Right::kRead, "BEARER  " + kTokens.read), Access::kAllowed);
  EXPECT_EQ(check_access(kTokens, Right::kRead, "Bearer" + kTokens.read), Access::kUnknown);
}

TEST(Access, KnowsTheNamesThatAProxyPassesOn) {
  const std::vector<std::string> names = {"results.example", "[2001:db8::1]"};
  for (const auto* host : {"results.example", "Results.Example:443", "[2001:db8::1]:80"}) {
    EXPECT_TRUE(is_host_of(host, names)) << host;
  }
  for (const auto* host : {"", "results.example.org", "x.results.example", "results.example:x"}) {
    EXPECT_FALSE(is_host_of(host, names)) << host;
  }
}

}  // namespace
}  // namespace assay::site
