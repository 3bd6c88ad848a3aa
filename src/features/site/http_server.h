#pragma once

#include "features/site/http_service.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "assay/base/result.h"

namespace assay::site {

struct ServerLimits {
  std::size_t connections = 64;       ///< More get 503 at once.
  std::size_t head_bytes = 16 << 10;  ///< A request's line and headers.
  int head_seconds = 15;   ///< Limit of a head, and of the time between requests of a connection.
  int body_seconds = 300;  ///< Limit of a part.
  int answer_seconds = 60;
  /// Bytes that a client still sends after its last answer are dropped: a socket that is closed
  /// with bytes unread takes the answer back.
  std::uint64_t drain_bytes = std::uint64_t{1} << 30;
  int drain_seconds = 20;
  int threads = 2;        ///< Read and write; no page is made on them.
  int list_threads = 2;   ///< Make pages from the index, which takes milliseconds.
  int store_threads = 4;  ///< Make pages from the store, which may take seconds.
};

/// An HTTP/1.1 server of one service, on one address.
class HttpServer {
 public:
  /// `address`: numeric, or "localhost"; port 0: any free one. Errors: kInvalidArgument,
  /// kUnavailable (the address cannot be listened on).
  static Result<std::unique_ptr<HttpServer>> open(HttpService& service, const std::string& address,
                                                  std::uint16_t port, const ServerLimits& limits);
  virtual ~HttpServer() = default;

  [[nodiscard]] virtual std::uint16_t port() const = 0;
  /// Answers requests until `goes_on`, asked several times a second, returns false.
  virtual void run(const std::function<bool()>& goes_on) = 0;
};

/// Whether a server may listen on an address with these tokens. Errors: kInvalidArgument: an
/// address beyond this machine needs a token that reads.
Status check_exposure(const std::string& address, const Tokens& tokens);

}  // namespace assay::site
