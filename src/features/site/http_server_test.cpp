#include "features/site/http_server.h"

#include "features/site/http_service.h"
#include "features/site/site.h"
#include "features/site/testing/site_fixture.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <latch>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "assay/base/result.h"
#include "assay/store/result_store.h"

namespace assay::site {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const Tokens kOwnTokens{.read = {}, .add = "adding-adding-adding"};

/// A connection of a client that sends all of its request before it reads, as most do.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {}, .sin_zero = {}};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { ::close(socket_); }

  /// True if all of it was taken.
  [[nodiscard]] bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return false;
      }
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// Receives the line of the status, at least.
  [[nodiscard]] std::string receive() const {
    std::string answer(4096, '\0');
    const auto bytes = ::recv(socket_, answer.data(), answer.size(), 0);
    answer.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
    return answer;
  }

 private:
  int socket_;
};

class HttpServerTest : public SiteTest {
 protected:
  void serve(OpenStore open_store = {}) {
    site_ = Site::open(
                {.open_store = open_store ? open_store : reading(), .index_file = file("index.db")})
                .value();
    EXPECT_TRUE(site_->update([](const IndexState&) { return true; }).has_value());
    std::filesystem::create_directory(file("parts"));
    service_ = std::make_unique<HttpService>(
        *site_, ServiceOptions{
                    .tokens = kOwnTokens,
                    .open_to_add = [path = file("results.db")] { return open_sqlite_store(path); },
                    .part_folder = file("parts")});
    server_ = HttpServer::open(*service_, "127.0.0.1", 0, {}).value();
    thread_ = std::jthread([this] { server_->run([this] { return goes_on_.load(); }); });
  }

  void TearDown() override {
    goes_on_ = false;
    thread_ = {};
  }

  [[nodiscard]] OpenStore reading() const {
    return [path = file("results.db")] { return open_sqlite_store(path, StoreAccess::kRead); };
  }

  static std::string post(std::string_view token, std::size_t bytes) {
    return fmt::format(
               "POST /api/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n"
               "Content-Length: {}\r\n\r\n",
               token, bytes) +
           std::string(bytes, 'x');
  }

  std::unique_ptr<Site> site_;
  std::unique_ptr<HttpService> service_;
  std::unique_ptr<HttpServer> server_;
  std::atomic<bool> goes_on_ = true;
  std::jthread thread_;
};

constexpr std::size_t kLargePart = 12 << 20;  ///< More than sockets hold.

TEST_F(HttpServerTest, ARefusalReachesWhoSendsAllOfAPartFirst) {
  serve();
  const Client wrong(server_->port());
  EXPECT_TRUE(wrong.send(post("wrong-wrong-wrong-wrong", kLargePart)));
  EXPECT_THAT(wrong.receive(), StartsWith("HTTP/1.1 401"));
  const Client body(server_->port());
  EXPECT_TRUE(body.send("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 12582912\r\n\r\n" +
                        std::string(kLargePart, 'x')));
  EXPECT_THAT(body.receive(), StartsWith("HTTP/1.1 400"));
}

TEST_F(HttpServerTest, AFullDiskIsNoFaultOfThePart) {
  serve();
  std::filesystem::create_symlink("/dev/full", file("parts/part-0.db"));
  const Client client(server_->port());
  EXPECT_TRUE(client.send(post(kOwnTokens.add, kLargePart)));
  const auto answer = client.receive();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(answer, HasSubstr("no room for the part"));
  EXPECT_TRUE(client.send("GET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  EXPECT_THAT(client.receive(), StartsWith("HTTP/1.1 200")) << "the same connection";
}

TEST_F(HttpServerTest, PagesThatTakeLongHoldNoOtherUp) {
  std::latch released(1);
  std::atomic<bool> waits = false;
  serve([&, open = reading()] {
    if (waits) {
      released.wait();
    }
    return open();
  });
  waits = true;
  std::vector<std::unique_ptr<Client>> readers;
  for (int i = 0; i < 8; ++i) {
    readers.push_back(std::make_unique<Client>(server_->port()));
    EXPECT_TRUE(
        readers.back()->send("GET /runs/" + run_ + ".html HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  }
  const Client other(server_->port());
  EXPECT_TRUE(other.send("GET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  EXPECT_THAT(other.receive(), StartsWith("HTTP/1.1 200"));
  released.count_down();
  EXPECT_THAT(readers.back()->receive(), StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace assay::site
