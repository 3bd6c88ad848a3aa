#include "features/site/http_server.h"

// Asio of Boost 1.74 uses std::result_of, which C++20 deprecates.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/file.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/optional/optional.hpp>
#pragma GCC diagnostic pop

#include "features/site/access.h"
#include "features/site/http_service.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "assay/base/log.h"
#include "assay/base/result.h"

namespace assay::site {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Code = beast::error_code;
using Tcp = asio::ip::tcp;

std::string text_of(beast::string_view text) { return {text.data(), text.size()}; }

template <class Parser>
HttpRequest request_from_head(const Parser& parser) {
  const auto& head = parser.get();
  const auto value = [&head](http::field name) { return text_of(head[name]); };
  HttpRequest request{.method = text_of(head.method_string()),
                      .target = text_of(head.target()),
                      .host = value(http::field::host),
                      .authorization = value(http::field::authorization),
                      .if_none_match = value(http::field::if_none_match),
                      .origin = value(http::field::origin)};
  if (const auto length = parser.content_length()) {
    request.content_length = *length;
  }
  return request;
}

/// A body that is written to a file. Where that fails the rest is read and dropped, so that the
/// sender comes to the end of it and reads the answer.
// NOLINTBEGIN(readability-identifier-naming): Beast's parser looks for these names.
struct PartBody {
  struct value_type {
    beast::file file;
    Code failure;  ///< Why the file could not be written.
  };

  class reader {
   public:
    template <bool kIsRequest, class Fields>
    reader(http::header<kIsRequest, Fields>& /*head*/, value_type& body) : body_(body) {}

    void init(const boost::optional<std::uint64_t>& /*length*/, Code& code) { code = {}; }

    template <class Buffers>
    std::size_t put(const Buffers& buffers, Code& code) {
      std::size_t bytes = 0;
      for (const auto buffer : beast::buffers_range_ref(buffers)) {
        if (!body_.failure) {
          body_.file.write(buffer.data(), buffer.size(), body_.failure);
        }
        bytes += buffer.size();
      }
      code = {};
      return bytes;
    }

    void finish(Code& code) {
      body_.file.close(body_.failure ? code : body_.failure);
      code = {};
    }

   private:
    value_type& body_;
  };
};
// NOLINTEND(readability-identifier-naming)

/// Threads for all work except reading and writing.
struct Workers {
  explicit Workers(const ServerLimits& limits)
      : lists(static_cast<std::size_t>(limits.list_threads)),
        store(static_cast<std::size_t>(limits.store_threads)) {}

  void stop() {
    for (auto* pool : {&merging, &lists, &store}) {
      pool->stop();
    }
    for (auto* pool : {&merging, &lists, &store}) {
      pool->join();
    }
  }

  asio::thread_pool merging{1};  ///< Parts are merged one at a time.
  asio::thread_pool lists;
  asio::thread_pool store;
};

/// One connection. Its handlers run one at a time.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Tcp::socket socket, HttpService& service, const ServerLimits& limits,
          std::atomic<std::size_t>& open, Workers& workers)
      : stream_(std::move(socket)),
        service_(service),
        limits_(limits),
        open_(open),
        workers_(workers),
        drain_seconds_(limits.drain_seconds) {
    ++open_;
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { --open_; }

  void start() {
    if (open_ > limits_.connections) {
      keeps_alive_ = false;
      drain_seconds_ = 1;
      send({.status = 503,
            .headers = {{"Content-Type", "text/plain; charset=utf-8"}, {"Retry-After", "1"}},
            .body = "too many connections; try again\n"});
      return;
    }
    read_head();
  }

 private:
  void read_head() {
    head_.emplace();
    head_->header_limit(static_cast<std::uint32_t>(limits_.head_bytes));
    head_->body_limit(service_.max_part_bytes());
    stream_.expires_after(std::chrono::seconds(limits_.head_seconds));
    http::async_read_header(
        stream_, buffer_, *head_,
        [self = shared_from_this()](Code code, std::size_t /*bytes*/) { self->on_head(code); });
  }

  void on_head(Code code) {
    if (code == http::error::header_limit || code == http::error::buffer_overflow) {
      keeps_alive_ = false;
      return send({.status = 431, .headers = {}, .body = "the head of the request is too long\n"});
    }
    if (code == http::error::body_limit) {
      keeps_alive_ = false;
      return send({.status = 413, .headers = {}, .body = "the part is too large\n"});
    }
    if (code && code.category() == http::make_error_code(http::error::bad_method).category() &&
        code != http::error::end_of_stream && code != http::error::partial_message) {
      keeps_alive_ = false;
      return send({.status = 400, .headers = {}, .body = "this is no HTTP request\n"});
    }
    if (code) {
      return close();
    }
    ASSAY_CHECK(head_.has_value());
    auto& head = *head_;
    request_ = request_from_head(head);
    is_head_ = request_.method == "HEAD";
    version_ = head.get().version();
    keeps_alive_ = head.keep_alive();
    if (service_.takes_body(request_)) {
      return on_part();
    }
    const bool has_body = head.chunked() || request_.content_length.value_or(0) > 0;
    if (has_body) {
      request_.content_length = std::max<std::uint64_t>(request_.content_length.value_or(1), 1);
      keeps_alive_ = false;
    }
    make_page();
  }

  void make_page() {
    stream_.expires_never();
    auto& pool = service_.reads_store(request_) ? workers_.store : workers_.lists;
    answer_on(pool, [self = shared_from_this()] { return self->service_.answer(self->request_); });
  }

  /// Makes an answer on a pool, and sends it from the connection's own thread.
  template <class Make>
  void answer_on(asio::thread_pool& pool, Make make) {
    asio::post(pool, [self = shared_from_this(), make = std::move(make)] {
      HttpAnswer answer;
      try {
        answer = make();
      } catch (const std::exception& error) {
        log_line(LogLevel::kError, fmt::format("a request failed: {}", error.what()));
        answer = {.status = 500, .headers = {}, .body = "this could not be answered\n"};
      }
      asio::post(self->stream_.get_executor(),
                 [self, answer = std::move(answer)]() mutable { self->send(std::move(answer)); });
    });
  }

  void on_part() {
    if (auto refusal = service_.refuse(request_)) {
      keeps_alive_ = false;  // The body was not read.
      return send(std::move(*refusal));
    }
    ASSAY_CHECK(head_.has_value());
    if (beast::iequals(head_->get()[http::field::expect], "100-continue")) {
      continue_ = http::response<http::empty_body>(http::status::continue_, version_);
      return http::async_write(stream_, *continue_,
                               [self = shared_from_this()](Code code, std::size_t /*bytes*/) {
                                 code ? self->close() : self->read_part();
                               });
    }
    read_part();
  }

  void read_part() {
    part_file_ = service_.part_file();
    ASSAY_CHECK(head_.has_value());
    part_.emplace(std::move(*head_));
    auto& body = part_->get().body();
    body.file.open(part_file_.c_str(), beast::file_mode::write, body.failure);
    stream_.expires_after(std::chrono::seconds(limits_.body_seconds));
    http::async_read(stream_, buffer_, *part_,
                     [self = shared_from_this()](Code failed, std::size_t /*bytes*/) {
                       self->on_part_read(failed);
                     });
  }

  void on_part_read(Code code) {
    ASSAY_CHECK(part_.has_value());
    const auto failure = part_->get().body().failure;
    part_.reset();  // Closes the file.
    if (!code && !failure) {
      return merge_part();
    }
    std::error_code ignored;
    std::filesystem::remove(part_file_, ignored);
    if (!code) {
      return send(service_.refuse_unwritten(request_, failure.message()));
    }
    if (code != http::error::body_limit) {
      return close();
    }
    keeps_alive_ = false;
    send({.status = 413, .headers = {}, .body = "the part is too large\n"});
  }

  /// Runs on a thread of its own, so that pages are answered meanwhile.
  void merge_part() {
    stream_.expires_never();
    answer_on(workers_.merging, [self = shared_from_this()] {
      auto answer = self->service_.answer_part(self->request_, self->part_file_);
      std::error_code ignored;
      std::filesystem::remove(self->part_file_, ignored);
      return answer;
    });
  }

  void send(HttpAnswer answer) {
    response_.emplace();
    response_->version(version_);
    response_->result(static_cast<unsigned>(answer.status));
    for (const auto& [name, value] : answer.headers) {
      response_->set(name, value);
    }
    response_->keep_alive(keeps_alive_);
    if (answer.status == 304) {
      response_->content_length(boost::none);
    } else {
      response_->content_length(answer.body.size());
    }
    response_->body() = is_head_ ? std::string() : std::move(answer.body);
    stream_.expires_after(std::chrono::seconds(limits_.answer_seconds));
    serializer_.emplace(*response_);
    http::async_write(
        stream_, *serializer_,
        [self = shared_from_this()](Code code, std::size_t /*bytes*/) { self->on_sent(code); });
  }

  void on_sent(Code code) {
    serializer_.reset();
    response_.reset();
    if (code) {
      return close();
    }
    if (!keeps_alive_) {
      return close_behind_answer();
    }
    read_head();
  }

  void close() {
    Code ignored;
    static_cast<void>(stream_.socket().shutdown(Tcp::socket::shutdown_send, ignored));
  }

  void close_behind_answer() {
    close();
    constexpr std::size_t kBytes = 64 << 10;
    dropped_.resize(kBytes);
    stream_.expires_after(std::chrono::seconds(drain_seconds_));
    drain();
  }

  void drain() {
    stream_.async_read_some(asio::buffer(dropped_),
                            [self = shared_from_this()](Code code, std::size_t bytes) {
                              self->drained_bytes_ += bytes;
                              if (!code && self->drained_bytes_ < self->limits_.drain_bytes) {
                                self->drain();
                              }
                            });
  }

  beast::tcp_stream stream_;
  HttpService& service_;
  const ServerLimits& limits_;
  std::atomic<std::size_t>& open_;
  Workers& workers_;
  int drain_seconds_;
  std::uint64_t drained_bytes_ = 0;
  std::vector<char> dropped_;
  beast::flat_buffer buffer_{std::size_t{1} << 20};
  std::optional<http::request_parser<http::empty_body>> head_;
  std::optional<http::request_parser<PartBody>> part_;
  std::optional<http::response<http::empty_body>> continue_;
  std::optional<http::response<http::string_body>> response_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  HttpRequest request_;
  std::filesystem::path part_file_;
  unsigned version_ = 11;
  bool is_head_ = false;
  bool keeps_alive_ = true;
};

class BeastServer : public HttpServer {
 public:
  BeastServer(HttpService& service, const ServerLimits& limits)
      : service_(service),
        limits_(limits),
        acceptor_(context_),
        timer_(context_),
        workers_(limits) {}

  Status listen(const Tcp::endpoint& endpoint) {
    Code code;
    static_cast<void>(acceptor_.open(endpoint.protocol(), code));
    if (!code) {
      static_cast<void>(acceptor_.set_option(asio::socket_base::reuse_address(true), code));
    }
    if (!code) {
      static_cast<void>(acceptor_.bind(endpoint, code));
    }
    if (!code) {
      static_cast<void>(acceptor_.listen(asio::socket_base::max_listen_connections, code));
    }
    return code ? fail(ErrorCode::kUnavailable,
                       fmt::format("cannot listen on {}, port {}: {}; name another --port",
                                   endpoint.address().to_string(), endpoint.port(), code.message()))
                : Status();
  }

  [[nodiscard]] std::uint16_t port() const override { return acceptor_.local_endpoint().port(); }

  void run(const std::function<bool()>& goes_on) override {
    accept();
    watch(goes_on);
    std::vector<std::jthread> threads;
    for (int i = 1; i < limits_.threads; ++i) {
      threads.emplace_back([this] { work(); });
    }
    work();
    threads.clear();
    workers_.stop();
  }

 private:
  void work() {
    while (!context_.stopped()) {
      try {
        context_.run();
      } catch (const std::exception& error) {
        log_line(LogLevel::kError, fmt::format("a request failed: {}", error.what()));
      }
    }
  }

  void accept() {
    acceptor_.async_accept(asio::make_strand(context_), [this](Code code, Tcp::socket socket) {
      if (!code) {
        std::make_shared<Session>(std::move(socket), service_, limits_, open_, workers_)->start();
      }
      accept();
    });
  }

  void watch(const std::function<bool()>& goes_on) {
    timer_.expires_after(std::chrono::milliseconds(50));
    timer_.async_wait([this, &goes_on](Code /*code*/) {
      if (!goes_on()) {
        context_.stop();
        return;
      }
      watch(goes_on);
    });
  }

  HttpService& service_;
  ServerLimits limits_;
  asio::io_context context_;
  Tcp::acceptor acceptor_;
  asio::steady_timer timer_;
  std::atomic<std::size_t> open_{0};
  Workers workers_;  ///< Ends before what its sessions hold.
};

}  // namespace

Status check_exposure(const std::string& address, const Tokens& tokens) {
  if (is_loopback(address) || !tokens.read.empty()) {
    return {};
  }
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' can be reached from other machines, and without a token everybody "
                          "there could read all results; name a file with --read-token-file, set "
                          "{}, or leave --host out",
                          address, kReadTokenVariable));
}

Result<std::unique_ptr<HttpServer>> HttpServer::open(HttpService& service,
                                                     const std::string& address, std::uint16_t port,
                                                     const ServerLimits& limits) {
  Code code;
  const auto ip = asio::ip::make_address(address == "localhost" ? "127.0.0.1" : address, code);
  if (code) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is no address; name a numeric one, such as 127.0.0.1 or 0.0.0.0",
                            address));
  }
  auto server = std::make_unique<BeastServer>(service, limits);
  ASSAY_RETURN_IF_ERROR(server->listen({ip, port}));
  return server;
}

}  // namespace assay::site
