#include "features/site/access.h"
#include "features/site/http_server.h"
#include "features/site/http_service.h"
#include "features/site/index_update.h"
#include "features/site/ingest.h"
#include "features/site/site.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/log.h"
#include "assay/base/output.h"
#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/interrupt.h"
#include "assay/cli/verb.h"
#include "assay/store/store_address.h"

namespace assay::cli {
namespace {

struct ServeOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8040;
  std::vector<std::string> public_names;
  site::TokenFiles tokens;
  std::string max_part = "256MB";
  StoreFlags store;
};

/// Reads new runs into the index while the server answers.
class IndexKeeper {
 public:
  explicit IndexKeeper(site::Site& site)
      : site_(site), thread_([this](const std::stop_token& token) { keep(token); }) {}

 private:
  using Clock = std::chrono::steady_clock;

  void keep(const std::stop_token& token) {
    constexpr auto kPause = std::chrono::seconds(2);
    auto next_full = Clock::now();
    while (!token.stop_requested()) {
      const auto begin = Clock::now();
      const bool is_full = begin >= next_full;
      const auto state =
          site_.update([&token](const site::IndexState&) { return !token.stop_requested(); },
                       is_full ? site::UpdateScope::kAll : site::UpdateScope::kNewest);
      if (is_full) {
        // At most a tenth of a core goes into looking for what is not among the newest runs.
        next_full = Clock::now() + 10 * (Clock::now() - begin);
      }
      tell(state ? state->trouble : state.error().message);
      std::unique_lock lock(mutex_);
      wakeup_.wait_for(lock, token, kPause, [] { return false; });
    }
  }

  void tell(const std::string& trouble) {
    if (!trouble.empty() && trouble != told_) {
      log_line(LogLevel::kWarning, "the index is not up to date: " + trouble);
    }
    told_ = trouble;
  }

  site::Site& site_;
  std::string told_;
  std::mutex mutex_;
  std::condition_variable_any wakeup_;
  std::jthread thread_;  // Last: it uses the others.
};

/// The runs of a small store are there with the first page, and the first page of a large one says
/// how many are not.
void index_briefly(site::Site& site) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  const auto state = site.update([end](const site::IndexState&) {
    return std::chrono::steady_clock::now() < end && !is_interrupted();
  });
  if (!state) {
    log_line(LogLevel::kWarning, "the index is not up to date: " + state.error().message);
  }
}

Result<std::unique_ptr<site::Site>> open_served_site(const StoreFlags& store) {
  const auto address = store.address();
  const auto whole =
      is_database_url(address) ? address : std::filesystem::absolute(address).string();
  return site::Site::open({.open_store = [store] { return store.open_to_read(); },
                           .store_name = store.short_name(),
                           .index_file = site::index_file_of_store(assay_home(), whole)});
}

std::string url_of(const std::string& host, std::uint16_t port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return fmt::format("http://{}:{}/", is_ipv6 ? "[" + host + "]" : host, port);
}

Result<ExitCode> execute_serve(const ServeOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto max_part_bytes, bytes_from_text(options.max_part));
  ASSAY_ASSIGN_OR_RETURN(auto tokens, site::read_tokens(options.tokens));
  ASSAY_RETURN_IF_ERROR(site::check_exposure(options.host, tokens));
  ASSAY_ASSIGN_OR_RETURN(const auto site, open_served_site(options.store));
  ASSAY_ASSIGN_OR_RETURN(const auto folder, TemporaryFolder::make("assay-parts"));
  const bool takes_parts = !tokens.add.empty();
  const auto open_to_add = [store = options.store] { return store.open(); };
  site::HttpService service(
      *site, {.tokens = std::move(tokens),
              .is_loopback = site::is_loopback(options.host),
              .hosts = options.public_names,
              .open_to_add = takes_parts ? site::OpenToAdd(open_to_add) : site::OpenToAdd(),
              .max_part_bytes = static_cast<std::uint64_t>(max_part_bytes),
              .part_folder = folder.path()});
  ASSAY_ASSIGN_OR_RETURN(const auto server,
                         site::HttpServer::open(service, options.host, options.port, {}));
  catch_interrupts();
  index_briefly(*site);
  const IndexKeeper keeper(*site);
  print_out("{}\n", url_of(options.host, server->port()));
  log_line(LogLevel::kInfo, takes_parts ? "POST /api/runs takes store parts; Ctrl-C ends"
                                        : "read-only; Ctrl-C ends");
  server->run([] { return !is_interrupted(); });
  return ExitCode::kOk;
}

}  // namespace

Execute declare_serve(CLI::App& app) {
  auto options = std::make_shared<ServeOptions>();
  app.add_option("--host", options->host,
                 "Address to listen on; one beyond this machine needs a token")
      ->capture_default_str();
  app.add_option("--port", options->port, "Port to listen on; 0 takes a free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  app.add_option("--public-name", options->public_names,
                 "Host name that a proxy on this machine passes on, such as results.example.org");
  app.add_option("--read-token-file", options->tokens.read,
                 "File with the token that reads [default: ASSAY_SITE_READ_TOKEN]");
  app.add_option("--add-token-file", options->tokens.add,
                 "File with the token that adds runs [default: ASSAY_SITE_ADD_TOKEN]");
  app.add_option("--max-part", options->max_part, "Largest store part that is taken")
      ->capture_default_str();
  options->store.declare(app);
  return [options] { return execute_serve(*options); };
}

}  // namespace assay::cli
