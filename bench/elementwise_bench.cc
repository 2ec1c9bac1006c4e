// Arithmetic of arrays, functions of one variable and their derivatives, copies and reductions: what memory bounds.
#include "kernels/elementwise.h"
#include "kernels/reduce.h"
#include "kernels/unary.h"
#include "numbers.h"

namespace glass::bench {
namespace {

using kernels::Layout;
using kernels::Unary;

constexpr int64_t rows = 3000, width = 256, count = rows * width;

void add_dense(benchmark::State& state) {
  const auto a = numbers(count), b = numbers(count);
  std::vector<float> y(count);
  const Layout dense{1, {count}, {1}};
  for (auto _ : state) kernels::binary(kernels::Binary::add, a.data(), dense, b.data(), dense, y.data());
  report_bytes(state, 12 * count);
}

void add_bias(benchmark::State& state) {
  const auto a = numbers(count), b = numbers(width);
  std::vector<float> y(count);
  const Layout dense{2, {rows, width}, {width, 1}}, row{2, {rows, width}, {0, 1}};
  for (auto _ : state) kernels::binary(kernels::Binary::add, a.data(), dense, b.data(), row, y.data());
  report_bytes(state, 8 * count);
}

void bias_gradient(benchmark::State& state) {
  const auto dy = numbers(count);
  std::vector<float> db(width);
  const Layout row{2, {rows, width}, {0, 1}};
  for (auto _ : state) kernels::sum_to(dy.data(), row, width, db.data());
  report_bytes(state, 4 * count);
}

void sum_over_middle_axis(benchmark::State& state) {  // [B,T,D] summed over T
  const auto x = numbers(count);
  std::vector<float> y(count / 30);
  const Layout out{3, {100, 30, width}, {width, 0, 1}};
  for (auto _ : state) kernels::sum_to(x.data(), out, count / 30, y.data());
  report_bytes(state, 4 * count);
}

void accumulate(benchmark::State& state) {
  const auto x = numbers(count);
  std::vector<float> y(count);
  for (auto _ : state) kernels::accumulate(x.data(), count, 1.0f, y.data());
  report_bytes(state, 12 * count);
}

void squared_norm(benchmark::State& state) {
  const auto x = numbers(count);
  for (auto _ : state) benchmark::DoNotOptimize(kernels::squared_norm<float>({x}));
  report_bytes(state, 4 * count);
}

void any_non_finite(benchmark::State& state) {
  const auto x = numbers(count);
  for (auto _ : state) benchmark::DoNotOptimize(kernels::any_non_finite(x.data(), count));
  report_bytes(state, 4 * count);
}

void last_axis(benchmark::State& state) {
  const auto x = numbers(count);
  std::vector<float> y(rows);
  for (auto _ : state) kernels::sum_axis(x.data(), rows, width, 1, y.data());
  report_bytes(state, 4 * count);
}

template <Unary f>
void function(benchmark::State& state) {
  const auto x = numbers(count);
  std::vector<float> y(count);
  for (auto _ : state) kernels::unary(f, x.data(), count, y.data());
  report_bytes(state, 8 * count);
}

template <Unary f>
void function_plain(benchmark::State& state) {
  const auto x = numbers(count);
  std::vector<float> y(count);
  for (auto _ : state) {
    for (size_t i = 0; i < y.size(); ++i) y[i] = kernels::plain::unary(f, x[i]);
    benchmark::ClobberMemory();
  }
  report_bytes(state, 8 * count);
}

template <Unary f>
void derivative(benchmark::State& state) {
  const auto dy = numbers(count), saved = numbers(count);
  std::vector<float> dx(count);
  for (auto _ : state) kernels::unary_backward(f, dy.data(), saved.data(), count, dx.data());
  report_bytes(state, 12 * count);
}

BENCHMARK(add_dense)->UseRealTime();
BENCHMARK(add_bias)->UseRealTime();
BENCHMARK(bias_gradient)->UseRealTime();
BENCHMARK(sum_over_middle_axis)->UseRealTime();
BENCHMARK(accumulate)->UseRealTime();
BENCHMARK(squared_norm)->UseRealTime();
BENCHMARK(any_non_finite)->UseRealTime();
BENCHMARK(last_axis)->UseRealTime();

#define GLASS_BENCHMARK_UNARY(f)                               \
  BENCHMARK_TEMPLATE(function, Unary::f)->UseRealTime();       \
  BENCHMARK_TEMPLATE(function_plain, Unary::f)->UseRealTime(); \
  BENCHMARK_TEMPLATE(derivative, Unary::f)->UseRealTime();
GLASS_BENCHMARK_UNARY(exp)
GLASS_BENCHMARK_UNARY(tanh)
GLASS_BENCHMARK_UNARY(sigmoid)
GLASS_BENCHMARK_UNARY(relu)
GLASS_BENCHMARK_UNARY(gelu)
GLASS_BENCHMARK_UNARY(gelu_tanh)

}  // namespace
}  // namespace glass::bench
