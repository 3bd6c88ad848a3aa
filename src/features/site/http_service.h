#pragma once

#include "features/site/access.h"
#include "features/site/ingest.h"
#include "features/site/site.h"

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::site {

/// The part of a request that matters; header values as they came, empty where absent.
struct HttpRequest {
  std::string method;  ///< "GET"
  std::string target;  ///< "/runs/ID.html?x=y"
  std::string host;
  std::string authorization;
  std::string if_none_match;
  std::string origin;
  std::optional<std::uint64_t> content_length;
};

struct HttpAnswer {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

struct ServiceOptions {
  Tokens tokens;
  bool is_loopback = true;  ///< True: the Host header must name this machine or one of `hosts`.
  std::vector<std::string> hosts;  ///< Further host names, in any case of their letters.
  OpenToAdd open_to_add;           ///< Empty: no parts are taken.
  std::uint64_t max_part_bytes = std::uint64_t{256} << 20;
  std::filesystem::path part_folder;  ///< Folder for bodies while they are read.
};

/// Answers requests without a socket: whose, what, and how it is sent. Thread-safe.
class HttpService {
 public:
  HttpService(Site& site, ServiceOptions options) : site_(site), options_(std::move(options)) {}

  /// Refuses a request as far as its head tells what is wrong; nullopt: nothing is, so its body may
  /// be read where it has one.
  std::optional<HttpAnswer> refuse(const HttpRequest& request);
  /// True if the body of the request is a part of a run, which goes to a file.
  [[nodiscard]] bool takes_body(const HttpRequest& request) const;
  /// Tells whether its page is made from the store, which may take long, and not from the index.
  [[nodiscard]] static bool reads_store(const HttpRequest& request);
  /// The answer to a part that could not be kept while it was read, and a line in the log.
  HttpAnswer refuse_unwritten(const HttpRequest& request, const std::string& why);
  /// A new file for a body.
  std::filesystem::path part_file();

  /// Calls refuse() itself.
  HttpAnswer answer(const HttpRequest& request);
  /// Answers a request with a body, which is in `part`. Calls refuse() itself.
  HttpAnswer answer_part(const HttpRequest& request, const std::filesystem::path& part);

  [[nodiscard]] std::uint64_t max_part_bytes() const { return options_.max_part_bytes; }

 private:
  HttpAnswer error(const HttpRequest& request, int status, const std::string& message);

  Site& site_;
  ServiceOptions options_;
  std::mutex merging_;
  std::mutex naming_;
  int next_part_ = 0;
};

/// Splits a target into the path without its leading "/" and the decoded parameters.
PageRequest page_request_from_target(const std::string& target);

}  // namespace assay::site
