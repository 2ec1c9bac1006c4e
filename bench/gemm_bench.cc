// Matrix products of training (1600 to 3000 tokens), of decoding (few rows) and of attention (many tiny ones).
#include "kernels/gemm.h"
#include "numbers.h"

namespace glass::bench {
namespace {

using kernels::GemmSizes;

GemmSizes sizes_of(const benchmark::State& state) { return {state.range(0), state.range(1), state.range(2)}; }
double flops(GemmSizes s) {
  return 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
}

template <class T>
void linear(benchmark::State& state) {  // x [m,k] · Wᵀ, W stored [n,k]
  const GemmSizes s = sizes_of(state);
  const auto x = numbers<T>(s.m * s.k), w = numbers<T>(s.n * s.k);
  std::vector<float> y(static_cast<size_t>(s.m * s.n));
  for (auto _ : state) {
    if constexpr (std::is_same_v<T, float>) {
      kernels::gemm(s, 1.0f, {x.data(), s.k, false}, {w.data(), s.k, true}, 0.0f, y.data(), s.n);
    } else {
      kernels::gemm(s, {x.data(), s.k, false}, {w.data(), s.k, true}, 0.0f, y.data(), s.n);
    }
  }
  report_flops(state, flops(s));
}

template <class T>
void weight_gradient(benchmark::State& state) {  // dyᵀ · x, dy stored [k,m]
  const GemmSizes s = sizes_of(state);
  const auto dy = numbers<T>(s.m * s.k), x = numbers<T>(s.n * s.k);
  std::vector<float> dw(static_cast<size_t>(s.m * s.n));
  for (auto _ : state) {
    if constexpr (std::is_same_v<T, float>) {
      kernels::gemm(s, 1.0f, {dy.data(), s.m, true}, {x.data(), s.n, false}, 0.0f, dw.data(), s.n);
    } else {
      kernels::gemm(s, {dy.data(), s.m, true}, {x.data(), s.n, false}, 0.0f, dw.data(), s.n);
    }
  }
  report_flops(state, flops(s));
}

void plain_linear(benchmark::State& state) {
  const GemmSizes s = sizes_of(state);
  const auto x = numbers(s.m * s.k), w = numbers(s.n * s.k);
  std::vector<float> y(static_cast<size_t>(s.m * s.n));
  for (auto _ : state) {
    kernels::plain::gemm(s, 1.0f, {x.data(), s.k, false}, {w.data(), s.k, true}, 0.0f, y.data(), s.n);
  }
  report_flops(state, flops(s));
}

void attention_scores(benchmark::State& state) {  // of each head: query [T,K] · keyᵀ
  const GemmSizes s = sizes_of(state);
  const int64_t heads = 256;
  const auto query = numbers(heads * s.m * s.k), key = numbers(heads * s.n * s.k);
  std::vector<float> scores(static_cast<size_t>(heads * s.m * s.n));
  std::vector<int64_t> a, b, c;
  for (int64_t i = 0; i < heads; ++i) {
    a.push_back(i * s.m * s.k);
    b.push_back(i * s.n * s.k);
    c.push_back(i * s.m * s.n);
  }
  for (auto _ : state) {
    kernels::gemm_batched<float>(heads, {a.data(), b.data(), c.data()}, s, 1.0f, {query.data(), s.k, false},
                                 {key.data(), s.k, true}, 0.0f, scores.data(), s.n);
  }
  report_flops(state, 256 * flops(s));
}

void training(benchmark::internal::Benchmark* b) {
  b->Args({1600, 256, 256})->Args({3000, 1024, 256})->Args({3000, 256, 1024})->Args({2000, 8000, 256})->UseRealTime();
}
void gradients(benchmark::internal::Benchmark* b) {
  b->Args({256, 256, 1600})->Args({1024, 256, 3000})->Args({2048, 512, 3000})->Args({8000, 256, 2000})->UseRealTime();
}

BENCHMARK_TEMPLATE(linear, float)->Apply(training)->Args({4, 256, 256})->Args({32, 1024, 256})->Args({32, 8000, 256});
BENCHMARK_TEMPLATE(linear, bfloat16)->Apply(training)->Args({32, 8000, 256});
BENCHMARK_TEMPLATE(weight_gradient, float)->Apply(gradients);
BENCHMARK_TEMPLATE(weight_gradient, bfloat16)->Apply(gradients);
BENCHMARK(plain_linear)->Args({100, 256, 256})->UseRealTime();
BENCHMARK(attention_scores)->Args({12, 12, 32})->Args({25, 25, 32})->Args({100, 100, 32})->UseRealTime();

}  // namespace
}  // namespace glass::bench
