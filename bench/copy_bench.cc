// Copies: the permutation that splits heads, and conversions to and from bf16.
#include "kernels/copy.h"
#include "numbers.h"

namespace glass::bench {
namespace {

using kernels::Layout;

// [B,T,H,K] to [B,H,T,K]
void split_heads(benchmark::State& state) {
  const int64_t B = 120, T = 25, H = 8, K = 32, count = B * T * H * K;
  const auto x = numbers(count);
  std::vector<float> y(x.size());
  const Layout from{4, {B, H, T, K}, {T * H * K, K, H * K, 1}}, to{4, {B, H, T, K}, {H * T * K, T * K, K, 1}};
  for (auto _ : state) kernels::copy(x.data(), from, y.data(), to);
  report_bytes(state, 8 * count);
}

void transpose(benchmark::State& state) {
  const int64_t n = 512;
  const auto x = numbers(n * n);
  std::vector<float> y(x.size());
  for (auto _ : state) kernels::copy(x.data(), Layout{2, {n, n}, {1, n}}, y.data(), Layout{2, {n, n}, {n, 1}});
  report_bytes(state, 8 * n * n);
}

template <class From, class To>
void convert(benchmark::State& state) {
  const int64_t count = 3000 * 256;
  const auto x = numbers<From>(count);
  std::vector<To> y(x.size());
  const Layout dense{1, {count}, {1}};
  for (auto _ : state) kernels::copy(x.data(), dense, y.data(), dense);
  report_bytes(state, static_cast<int64_t>(sizeof(From) + sizeof(To)) * count);
}

BENCHMARK(split_heads)->UseRealTime();
BENCHMARK(transpose)->UseRealTime();
BENCHMARK_TEMPLATE(convert, float, bfloat16)->UseRealTime();
BENCHMARK_TEMPLATE(convert, bfloat16, float)->UseRealTime();
BENCHMARK_TEMPLATE(convert, float, double)->UseRealTime();

}  // namespace
}  // namespace glass::bench
