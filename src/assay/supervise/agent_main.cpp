// assay-agent: runs processes and keeps blobs on a device, for a host that speaks frames with it
// over stdin and stdout, or through two files. Links no engine, and no shared library.
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fmt/core.h>
#include <getopt.h>  // IWYU pragma: keep
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/boxed_command.h"
#include "assay/record/sandbox.h"
#include "assay/supervise/agent_files.h"
#include "assay/supervise/agent_home.h"
#include "assay/supervise/agent_service.h"
#include "assay/supervise/child_process.h"
#include "assay/supervise/companions.h"
#include "assay/supervise/held_settings.h"
#include "assay/supervise/process_tree.h"
#include "assay/supervise/sandbox.h"
#include "assay/supervise/whole_program.h"

namespace assay {
namespace {

constexpr int kAllWell = 0;
constexpr int kUsage = 2;
constexpr int kCouldNotRun = 3;
constexpr int kInterrupted = 130;

constexpr const char* kHelp =
    "assay-agent {}: runs processes on a device for assay, which starts it itself.\n"
    "\n"
    "  assay-agent                       frames on stdin and stdout, until bye or their end;\n"
    "                                    a process that still runs then is killed\n"
    "  assay-agent --job FILE --out FILE frames from one file to another\n"
    "  assay-agent --keep-busy cpu|memory work that disturbs others, until it is killed\n"
    "  assay-agent --box REQUEST --folder DIR -- PROGRAM ARG…\n"
    "                                    the program in a sandbox with DIR as its own folder\n"
    "  assay-agent --whole -- PROGRAM ARG… the program, and the end of all that it leaves running\n"
    "  assay-agent --restore             take back settings that a killed agent has left\n"
    "  assay-agent --clear SECONDS       remove all files of agents, unless somebody has the "
    "device\n"
    "                                    for longer; prints assay_failed=REASON where that fails\n"
    "  assay-agent --version | --help\n"
    "\n"
    "Its files are in $ASSAY_AGENT_HOME, or ~/.cache/assay-agent. Where the first is set,\n"
    "programs get a HOME and a TMPDIR in it if they have none that can be written.\n";

struct Options {
  std::string job;
  std::string out;
  std::string busy;
  std::string box;
  std::string folder;
  std::vector<std::string> program;
  bool is_whole = false;
  bool restores = false;
  std::string clears;
  bool is_help = false;
  bool is_version = false;
  bool is_wrong = false;
};

Options parse(int argc, char** argv) {
  constexpr std::array<option, 11> kFlags = {{{"job", required_argument, nullptr, 'j'},
                                              {"box", required_argument, nullptr, 'b'},
                                              {"folder", required_argument, nullptr, 'f'},
                                              {"whole", no_argument, nullptr, 'w'},
                                              {"out", required_argument, nullptr, 'o'},
                                              {"keep-busy", required_argument, nullptr, 'k'},
                                              {"restore", no_argument, nullptr, 'r'},
                                              {"clear", required_argument, nullptr, 'c'},
                                              {"help", no_argument, nullptr, 'h'},
                                              {"version", no_argument, nullptr, 'v'},
                                              {}}};
  Options options;
  int flag = 0;
  while ((flag = ::getopt_long(argc, argv, "h", kFlags.data(), nullptr)) != -1) {
    options.job = flag == 'j' ? optarg : options.job;
    options.out = flag == 'o' ? optarg : options.out;
    options.busy = flag == 'k' ? optarg : options.busy;
    options.box += flag == 'b' ? optarg : "";  // A long one comes in parts.
    options.folder = flag == 'f' ? optarg : options.folder;
    options.is_whole = options.is_whole || flag == 'w';
    options.restores = options.restores || flag == 'r';
    options.clears = flag == 'c' ? optarg : options.clears;
    options.is_help = options.is_help || flag == 'h';
    options.is_version = options.is_version || flag == 'v';
    options.is_wrong = options.is_wrong || flag == '?';
  }
  options.program.assign(argv + optind, argv + argc);
  options.is_wrong = options.is_wrong || options.job.empty() != options.out.empty() ||
                     options.box.empty() != options.folder.empty() ||
                     (options.box.empty() && !options.is_whole) != options.program.empty();
  return options;
}

/// Readable when a signal asks us to stop, so that a running child is killed first.
FileDescriptor stop_descriptor() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    ::sigaddset(&signals, signal);
  }
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  return FileDescriptor(::signalfd(-1, &signals, SFD_CLOEXEC));
}

int exit_code_of(AgentEnd end) {
  switch (end) {
    case AgentEnd::kBye:
      return kAllWell;
    case AgentEnd::kSignal:
      return kInterrupted;
    case AgentEnd::kCorrupt:
    case AgentEnd::kAbandoned:
      break;
  }
  return kCouldNotRun;
}

int run_job(const Options& options, int stop_fd) {
  const FileDescriptor job(::open(options.job.c_str(), O_RDONLY | O_CLOEXEC));
  const FileDescriptor out(
      ::open(options.out.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!job.is_open() || !out.is_open()) {
    fmt::print(stderr, "assay-agent: cannot open '{}': {}\n",
               job.is_open() ? options.out : options.job, std::strerror(errno));
    return kCouldNotRun;
  }
  return exit_code_of(serve_agent(job.get(), out.get(), {.readable_fd = stop_fd}));
}

/// Becomes the program; returns only when that fails.
Error become_boxed_program(const Options& options) {
  const auto request = parse_json(options.box, "--box");
  if (!request) {
    return request.error();
  }
  try {
    const auto sandbox = Sandbox::prepare(request->get<SandboxRequest>(), options.folder);
    if (!sandbox) {
      return sandbox.error();
    }
    return become_program({.argv = options.program, .limits = {.wall_ns = 0}},
                          {.folder = options.folder, .sandbox = &*sandbox});
  } catch (const Json::exception& error) {
    return {.code = ErrorCode::kInvalidArgument, .message = error.what()};
  }
}

int run(int argc, char** argv) {
  const auto options = parse(argc, argv);
  if (options.is_wrong || options.is_help) {
    fmt::print(options.is_wrong ? stderr : stdout, kHelp, ASSAY_VERSION);
    return options.is_wrong ? kUsage : kAllWell;
  }
  if (options.is_version) {
    fmt::print("assay-agent {}\n", ASSAY_VERSION);
    return kAllWell;
  }
  if (!options.box.empty()) {
    fmt::print(stderr, "assay-agent: {}\n", become_boxed_program(options).message);
    return kNoBox;
  }
  if (options.is_whole) {
    return run_whole_program(options.program);
  }
  if (!options.busy.empty()) {
    const auto status = keep_busy(options.busy, STDOUT_FILENO);
    fmt::print(stderr, "assay-agent: {}\n", status ? "" : status.error().message);
    return kUsage;
  }
  if (const auto settled = settle_in_agent_home(); !settled) {
    fmt::print(stderr, "assay-agent: {}\n", settled.error().message);
    return kCouldNotRun;
  }
  if (options.restores) {
    fmt::print("{}", restore_settings_left_in(agent_home()));
    return kAllWell;
  }
  if (!options.clears.empty()) {
    int seconds = 0;
    const auto* const end = options.clears.data() + options.clears.size();
    if (std::from_chars(options.clears.data(), end, seconds).ptr != end) {
      fmt::print(stderr, "assay-agent: --clear takes a number of seconds, not '{}'\n",
                 options.clears);
      return kUsage;
    }
    if (const auto cleared = clear_agent_home(agent_home(), std::chrono::seconds(seconds));
        !cleared) {
      fmt::print("assay_failed={}\n", cleared.error().message);
    }
    return kAllWell;
  }
  // Large blobs go back to the system when they are freed: the peak memory that the kernel tells of
  // a child begins with what we hold when we fork.
  constexpr int kLargeBytes = 128 << 10;
  ::mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  const auto stop = stop_descriptor();
  adopt_orphans();
  if (!options.job.empty()) {
    return run_job(options, stop.get());
  }
  return exit_code_of(serve_agent(STDIN_FILENO, STDOUT_FILENO,
                                  {.hang_up_fd = STDIN_FILENO, .readable_fd = stop.get()}));
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  // Ignored by whoever started us, it would hide the ends of our children.
  ::signal(SIGCHLD, SIG_DFL);
  try {
    return assay::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "assay-agent: %s\n", error.what());
    constexpr int kOurBug = 4;
    return kOurBug;
  }
}
