// toy --input FILE --output FILE --iterations N: reads a vector, runs the network N times, prints
// the time of each operator and of each inference, and writes the last result.
#include "work.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

constexpr Operator kNetwork[] = {
    {"conv_stem", conv_stem}, {"conv_dw", conv_dw}, {"conv_pw", conv_pw},
    {"relu", relu},           {"add", add},         {"pool", pool},
    {"dense", dense},
};

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::string argument(int argc, char** argv, const char* name) {
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], name) == 0) {
      return argv[i + 1];
    }
  }
  std::fprintf(stderr, "toy: %s is missing\n", name);
  std::exit(2);
}

Vector infer(const Vector& input) {
  Vector x = input;
  Vector y{};
  std::vector<double> times;
  const auto start = Clock::now();
  for (const auto& op : kNetwork) {
    const auto begin = Clock::now();
    op.run(x, y);
    times.push_back(milliseconds_since(begin));
    x = y;
  }
  const double total = milliseconds_since(start);
  std::size_t i = 0;
  for (const auto& op : kNetwork) {
    std::printf("op %s %.6f ms\n", op.name, times[i++]);
  }
  std::printf("inference %.6f ms\n", total);
  return x;
}

}  // namespace

int main(int argc, char** argv) {
  Vector input{};
  std::ifstream in(argument(argc, argv, "--input"), std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(input.data()), sizeof(input))) {
    std::fprintf(stderr, "toy: the input is too short\n");
    return 1;
  }
  const int iterations = std::atoi(argument(argc, argv, "--iterations").c_str());
  Vector output{};
  for (int i = 0; i < iterations; ++i) {
    output = infer(input);
  }
  std::ofstream out(argument(argc, argv, "--output"), std::ios::binary);
  out.write(reinterpret_cast<const char*>(output.data()), sizeof(output));
  return out ? 0 : 1;
}
