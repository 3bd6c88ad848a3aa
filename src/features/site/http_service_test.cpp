#include "features/site/http_service.h"

#include "features/site/testing/site_fixture.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "assay/base/result.h"
#include "assay/store/result_store.h"

namespace assay::site {
namespace {

using testing::HasSubstr;
using testing::Not;

const Tokens kBothTokens{.read = "reading-reading-reading", .add = "adding-adding-adding"};

std::string header_of(const HttpAnswer& answer, const std::string& name) {
  const auto found =
      std::ranges::find(answer.headers, name, [](const auto& header) { return header.first; });
  return found == answer.headers.end() ? "" : found->second;
}

class HttpServiceTest : public SiteTest {
 protected:
  /// A service that listens to this machine only.
  std::unique_ptr<HttpService> service(const Tokens& tokens, bool is_loopback = true) {
    site_ = open_site();
    return std::make_unique<HttpService>(
        *site_, ServiceOptions{
                    .tokens = tokens,
                    .is_loopback = is_loopback,
                    .open_to_add = [path = file("results.db")] { return open_sqlite_store(path); },
                    .max_part_bytes = 10'000'000,
                    .part_folder = folder_.path()});
  }
  static HttpRequest get(const std::string& target, const std::string& token = {}) {
    return {.method = "GET",
            .target = target,
            .host = "localhost:8040",
            .authorization = token.empty() ? "" : "Bearer " + token};
  }
  static HttpRequest post(const std::string& token) {
    auto request = get("/api/runs", token);
    request.method = "POST";
    request.content_length = 1000;
    return request;
  }

  std::unique_ptr<Site> site_;
};

TEST_F(HttpServiceTest, ServesPagesThatNoOtherSiteMayFrame) {
  const auto answer = service({})->answer(get("/runs.html?steps=1"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr(run_));
  EXPECT_THAT(header_of(answer, "Content-Security-Policy"), HasSubstr("frame-ancestors 'none'"));
  EXPECT_EQ(header_of(answer, "X-Content-Type-Options"), "nosniff");
}

TEST_F(HttpServiceTest, SendsAPageAgainOnlyWhereItChanged) {
  const auto running = service({});
  auto request = get("/models.html");
  const auto first = running->answer(request);
  request.if_none_match = header_of(first, "ETag");
  const auto second = running->answer(request);
  EXPECT_EQ(second.status, 304);
  EXPECT_EQ(second.body, "");
}

TEST_F(HttpServiceTest, Gives404ForWhatIsNotThere) {
  const auto running = service({});
  for (const auto* target : {"/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/nothing",
                             "//etc/passwd", "/runs/%00.html", "/api/nothing"}) {
    EXPECT_EQ(running->answer(get(target)).status, 404) << target;
  }
  EXPECT_EQ(header_of(running->answer(get("/api/nothing")), "Content-Type"), "application/json");
}

TEST_F(HttpServiceTest, ReadsWithOneTokenAndAddsWithTheOther) {
  const auto running = service(kBothTokens, /*is_loopback=*/false);
  EXPECT_EQ(running->answer(get("/", kBothTokens.read)).status, 200);
  EXPECT_EQ(running->answer(get("/", kBothTokens.add)).status, 403);
  EXPECT_EQ(running->refuse(post(kBothTokens.read)).value().status, 403);
  EXPECT_FALSE(running->refuse(post(kBothTokens.add)).has_value());
}

TEST_F(HttpServiceTest, AsksForATokenWithoutTellingWhatIsThere) {
  const auto running = service(kBothTokens, /*is_loopback=*/false);
  for (const auto& request : {get("/"), get("/runs/" + run_ + ".html", "wrong"), post("wrong")}) {
    const auto answer = running->answer(request);
    EXPECT_EQ(answer.status, 401);
    EXPECT_THAT(header_of(answer, "WWW-Authenticate"), HasSubstr("Basic"));
    EXPECT_THAT(answer.body, Not(HasSubstr("results.db")));
  }
}

TEST_F(HttpServiceTest, AnswersOnlyToItsOwnNameWhereNoTokenIsNeeded) {
  auto request = get("/");
  request.host = "evil.example:8040";
  EXPECT_EQ(service({})->answer(request).status, 403);
}

TEST_F(HttpServiceTest, TakesNoRunsWithoutATokenForThem) {
  EXPECT_EQ(service({})->refuse(post("")).value().status, 403);
}

TEST_F(HttpServiceTest, ChangesNothingByOtherMethods) {
  const auto running = service(kBothTokens, /*is_loopback=*/false);
  for (const auto* method : {"PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"}) {
    auto request = get("/api/runs", kBothTokens.add);
    request.method = method;
    const auto answer = running->answer(request);
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_EQ(header_of(answer, "Allow"), "GET, HEAD, POST");
  }
  auto request = get("/index.html", kBothTokens.add);
  request.method = "POST";
  EXPECT_EQ(running->answer(request).status, 405);
}

TEST_F(HttpServiceTest, LimitsBodies) {
  const auto running = service(kBothTokens, /*is_loopback=*/false);
  auto request = post(kBothTokens.add);
  request.content_length = 10'000'001;
  EXPECT_EQ(running->refuse(request).value().status, 413);
  request.content_length.reset();
  EXPECT_EQ(running->refuse(request).value().status, 411);
  auto reading = get("/", kBothTokens.read);
  reading.content_length = 3;
  EXPECT_EQ(running->refuse(reading).value().status, 400);
}

TEST_F(HttpServiceTest, MergesAPartAndShowsItsRun) {
  const auto run = add_run("part.db");
  const auto running = service(kBothTokens, /*is_loopback=*/false);
  const auto answer = running->answer_part(post(kBothTokens.add), file("part.db"));
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr("assay/merged/1"));
  ASSERT_TRUE(site_->update([](const IndexState&) { return true; }).has_value());
  EXPECT_THAT(running->answer(get("/runs.html?steps=1", kBothTokens.read)).body, HasSubstr(run));
  const auto bad = running->answer_part(post(kBothTokens.add), file("index.db"));
  EXPECT_EQ(bad.status, 400) << bad.body;
}

TEST(PageRequests, AreSplitAndDecoded) {
  const auto request = page_request_from_target("/search.html?q=a+b%26c&x=1&y#z");
  EXPECT_EQ(request.path, "search.html");
  EXPECT_EQ(request.query.at("q"), "a b&c");
  EXPECT_EQ(request.query.at("x"), "1");
  EXPECT_EQ(request.query.at("y"), "");
  EXPECT_EQ(page_request_from_target("//api/runs").path, "api/runs") << "an address with \"/\"";
  EXPECT_EQ(page_request_from_target("/").path, "");
}

TEST_F(HttpServiceTest, KnowsItsPageByAWeakTagAndInAList) {
  const auto served = service({});
  auto request = get("/runs.html");
  const auto tag = header_of(served->answer(request), "ETag");
  for (const auto& sent : {tag, "W/" + tag, "\"other\", W/" + tag, std::string("*")}) {
    request.if_none_match = sent;
    EXPECT_EQ(served->answer(request).status, 304) << sent;
  }
  for (const auto* sent : {"\"other\"", ",", "W/"}) {
    request.if_none_match = sent;
    EXPECT_EQ(served->answer(request).status, 200) << sent;
  }
}

TEST_F(HttpServiceTest, AnswersToTheNameThatAProxyPassesOn) {
  site_ = open_site();
  HttpService served(*site_, {.tokens = {}, .hosts = {"results.example"}});
  auto request = get("/runs.html");
  request.host = "results.example";
  EXPECT_EQ(served.answer(request).status, 200);
  request.host = "other.example";
  EXPECT_EQ(served.answer(request).status, 403);
}

TEST_F(HttpServiceTest, KnowsWhichPagesTakeLong) {
  EXPECT_TRUE(HttpService::reads_store(get("/runs/x.html?y=z")));
  EXPECT_TRUE(HttpService::reads_store(get("/api/runs/x/report")));
  EXPECT_FALSE(HttpService::reads_store(get("/api/status")));
  EXPECT_TRUE(HttpService::reads_store(get("/"))) << "it shows incidents";
  EXPECT_FALSE(HttpService::reads_store(get("/runs.html")));
}

}  // namespace
}  // namespace assay::site
