#pragma once

#include <array>
#include <cstddef>

/// A small network of named operators over one vector. Work is counted in blocks: every block of
/// every operator executes the same instructions, so 1 % more blocks are 1 % more time.
constexpr std::size_t kSize = 256;
using Vector = std::array<float, kSize>;

struct Coefficients {
  float scale;
  float offset;
};

/// y = f(x), computed `blocks` times with one result.
void repeat(int blocks, const Coefficients& coefficients, const Vector& x, Vector& y);

struct Operator {
  const char* name;
  void (*run)(const Vector& x, Vector& y);
};

void conv_stem(const Vector& x, Vector& y);
void conv_dw(const Vector& x, Vector& y);
void conv_pw(const Vector& x, Vector& y);
void relu(const Vector& x, Vector& y);
void add(const Vector& x, Vector& y);
void pool(const Vector& x, Vector& y);
void dense(const Vector& x, Vector& y);
