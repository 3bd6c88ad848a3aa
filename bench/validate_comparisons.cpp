// How often a comparison is wrong: real pairs of identical programs, drawn again and again.
//
//     assay compare a.pte copy_of_a.pte --matters 0.1 --no-canary --format json   # several seeds
//     assay-validate STORE RUN [RUN…]
//
// The pool are the blocks of those runs, whose sides are the same program. Each trial draws whole
// blocks with replacement, makes B slower by a known factor, and goes through the looks, and the
// confirmation on fresh blocks, that `assay compare` would. Scaling adds an effect without its
// noise; what real added work does is a question for real pairs.
#include <array>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/compare/pairs.h"
#include "assay/stats/looks.h"
#include "assay/stats/pair_test.h"
#include "assay/store/result_store.h"

namespace assay {
namespace {

constexpr int kTrials = 1000;
constexpr int kConfirmationPairs = 20;
constexpr double kConfirmationAlpha = 0.01;

/// Two pairs, as they were launched.
struct Block {
  std::array<double, 2> a{};
  std::array<double, 2> b{};
};

Status read_blocks(ResultStore& store, const std::string& run_id, std::vector<Block>& pool) {
  ASSAY_ASSIGN_OR_RETURN(const auto run, store.get_run(run_id));
  ASSAY_ASSIGN_OR_RETURN(const auto attempts, store.attempts_of_run(run.id));
  Pairs pairs;
  for (const auto& attempt : attempts) {
    ASSAY_ASSIGN_OR_RETURN(const auto launches, store.launches_of_attempt(attempt.id));
    for (const auto& launch : launches) {
      pairs.add(launch);
    }
  }
  const auto sides = pairs.logs("steady_floor_ns");
  for (std::size_t i = 0; i + 1 < sides.a.size(); i += 2) {
    pool.push_back({{sides.a[i], sides.a[i + 1]}, {sides.b[i], sides.b[i + 1]}});
  }
  return {};
}

struct Sides {
  std::vector<double> a;
  std::vector<double> b;
};

Sides draw(const std::vector<Block>& pool, int pairs, double effect, std::mt19937_64& random) {
  Sides sides;
  while (static_cast<int>(sides.a.size()) < pairs) {
    const auto& block = pool[random() % pool.size()];
    for (std::size_t i = 0; i < 2; ++i) {
      sides.a.push_back(block.a.at(i));
      sides.b.push_back(block.b.at(i) + effect);
    }
  }
  return sides;
}

struct Tally {
  int slower = 0;
  int faster = 0;
  int confirmed = 0;
  int less = 0;
  int equivalent = 0;
  int open = 0;
  double pairs = 0;
};

bool is_found_again(const std::vector<Block>& pool, double effect, double found,
                    std::mt19937_64& random) {
  const auto fresh = draw(pool, kConfirmationPairs, effect, random);
  const stats::PairSwapPlan swaps{.seed = random()};
  const stats::LookPlan plan{
      .pairs = {kConfirmationPairs}, .alpha = {2 * kConfirmationAlpha}, .gate = 0.01};
  const auto again = stats::judge_look(fresh.a, fresh.b, 0, plan, swaps);
  return again.p_value <= 2 * kConfirmationAlpha && again.shift.estimate * found > 0 &&
         std::abs(again.shift.estimate) >= std::abs(found) / 2;
}

void run_trial(const std::vector<Block>& pool, double effect, std::mt19937_64& random,
               Tally& tally) {
  const stats::LookPlan plan{.gate = std::log1p(0.02)};
  const auto sides = draw(pool, plan.pairs.back(), effect, random);
  const stats::PairSwapPlan swaps{.seed = random()};
  stats::LookResult result;
  for (std::size_t look = 0; look < plan.pairs.size() && !result.is_final; ++look) {
    result = stats::judge_look(sides.a, sides.b, look, plan, swaps);
  }
  tally.pairs += result.pairs;
  switch (result.verdict) {
    case stats::PairVerdict::kSlower:
    case stats::PairVerdict::kFaster:
      ++(result.verdict == stats::PairVerdict::kSlower ? tally.slower : tally.faster);
      tally.confirmed += is_found_again(pool, effect, result.shift.estimate, random) ? 1 : 0;
      break;
    case stats::PairVerdict::kChangedLess:
      ++tally.less;
      break;
    case stats::PairVerdict::kEquivalent:
      ++tally.equivalent;
      break;
    case stats::PairVerdict::kInconclusive:
      ++tally.open;
  }
}

Status run(std::span<char*> arguments) {
  ASSAY_ASSIGN_OR_RETURN(const auto store, open_sqlite_store(arguments[1]));
  std::vector<Block> pool;
  for (const char* run_id : arguments.subspan(2)) {
    ASSAY_RETURN_IF_ERROR(read_blocks(*store, run_id, pool));
  }
  if (pool.size() < 20) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} blocks are too few to draw from: record more pairs", pool.size()));
  }
  fmt::print("{} blocks, {} trials each; share of trials, %\n", pool.size(), kTrials);
  fmt::print("{:>7} {:>7} {:>7} {:>10} {:>6} {:>11} {:>6} {:>6}\n", "effect", "slower", "faster",
             "confirmed", "less", "equivalent", "open", "pairs");
  std::mt19937_64 random(std::random_device{}());
  for (const double effect : {0.0, 0.01, 0.02, 0.03, 0.05}) {
    Tally tally;
    for (int trial = 0; trial < kTrials; ++trial) {
      run_trial(pool, std::log1p(effect), random, tally);
    }
    const auto share = [](int count) { return 100.0 * count / kTrials; };
    fmt::print("{:>6.1f}% {:>7.1f} {:>7.1f} {:>10.1f} {:>6.1f} {:>11.1f} {:>6.1f} {:>6.1f}\n",
               effect * 100, share(tally.slower), share(tally.faster), share(tally.confirmed),
               share(tally.less), share(tally.equivalent), share(tally.open),
               tally.pairs / kTrials);
  }
  return {};
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: assay-validate STORE RUN [RUN…]\n");
    return 2;
  }
  const auto status = assay::run({argv, static_cast<std::size_t>(argc)});
  if (!status) {
    fmt::print(stderr, "assay-validate: {}\n", status.error().message);
    return 1;
  }
  return 0;
}
