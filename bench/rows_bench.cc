// Kernels that work row by row: softmax, layer normalisation, cross-entropy, dropout, gathering.
#include <memory>

#include "kernels/cross_entropy.h"
#include "kernels/dropout.h"
#include "kernels/gather.h"
#include "kernels/layer_norm.h"
#include "kernels/softmax.h"
#include "numbers.h"

namespace glass::bench {
namespace {

void softmax(benchmark::State& state) {
  const int64_t rows = 1 << 14, n = state.range(0);
  const auto x = numbers(rows * n);
  std::vector<float> y(x.size());
  for (auto _ : state) kernels::softmax(x.data(), rows, n, {}, y.data());
  report_bytes(state, 8 * rows * n);
}

void softmax_plain(benchmark::State& state) {
  const int64_t rows = 1 << 14, n = state.range(0);
  const auto x = numbers(rows * n);
  std::vector<float> y(x.size());
  for (auto _ : state) {
    for (int64_t r = 0; r < rows; ++r) kernels::plain::softmax_row(x.data() + r * n, n, nullptr, 1, y.data() + r * n);
  }
  report_bytes(state, 8 * rows * n);
}

void softmax_causal(benchmark::State& state) {
  const int64_t n = state.range(0), heads = (1 << 14) / n, rows = heads * n;
  const auto x = numbers(rows * n);
  std::vector<float> y(x.size());
  const auto keep = std::make_unique<bool[]>(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n * n; ++i) keep[static_cast<size_t>(i)] = i % n <= i / n;
  for (auto _ : state) {
    kernels::softmax(x.data(), rows, n, {keep.get(), {1, heads, n}, {0, 0, n}, 1}, y.data());
  }
  report_bytes(state, 8 * rows * n);
}

void softmax_backward(benchmark::State& state) {
  const int64_t rows = 1 << 14, n = state.range(0);
  const auto dy = numbers(rows * n), y = numbers(rows * n, 2);
  std::vector<float> dx(y.size());
  for (auto _ : state) kernels::softmax_backward(dy.data(), y.data(), rows, n, dx.data());
  report_bytes(state, 12 * rows * n);
}

template <class T>
struct LayerNormInputs {
  int64_t rows = 3000, n;
  std::vector<T> x = numbers<T>(rows * n), dy = numbers<T>(rows * n, 2), weight = numbers<T>(n), bias = numbers<T>(n);
  std::vector<T> mean = numbers<T>(rows), rstd = numbers<T>(rows);
  std::vector<T> y = x, dweight = weight, dbias = bias;
};

template <class T>
void layer_norm(benchmark::State& state) {
  LayerNormInputs<T> in{.n = state.range(0)};
  for (auto _ : state) {
    kernels::layer_norm(in.x.data(), in.weight.data(), in.bias.data(), in.rows, in.n, 1e-5, in.y.data(), in.mean.data(),
                        in.rstd.data());
  }
  report_bytes(state, 2 * static_cast<int64_t>(sizeof(T)) * in.rows * in.n);
}

template <class T>
void layer_norm_backward(benchmark::State& state) {
  LayerNormInputs<T> in{.n = state.range(0)};
  for (auto _ : state) {
    kernels::layer_norm_backward(in.dy.data(), in.x.data(), in.weight.data(), in.mean.data(), in.rstd.data(), in.rows,
                                 in.n, in.y.data(), in.dweight.data(), in.dbias.data());
  }
  report_bytes(state, 3 * static_cast<int64_t>(sizeof(T)) * in.rows * in.n);
}

template <class T>
void cross_entropy(benchmark::State& state) {
  const int64_t rows = 500, n = state.range(0);
  const auto logits = numbers<T>(rows * n);
  const auto labels = row_ids(rows, n);
  std::vector<T> sums(static_cast<size_t>(rows));
  for (auto _ : state) {
    benchmark::DoNotOptimize(kernels::cross_entropy(logits.data(), labels.data(), rows, n, 0.1, -1, sums.data()));
  }
  report_bytes(state, static_cast<int64_t>(sizeof(T)) * rows * n);
}

template <class T>
void cross_entropy_backward(benchmark::State& state) {
  const int64_t rows = 500, n = state.range(0);
  const auto logits = numbers<T>(rows * n);
  const auto labels = row_ids(rows, n);
  std::vector<T> sums(static_cast<size_t>(rows)), dlogits(logits.size());
  kernels::cross_entropy(logits.data(), labels.data(), rows, n, 0.1, -1, sums.data());
  for (auto _ : state) {
    kernels::cross_entropy_backward(T{1}, logits.data(), labels.data(), sums.data(), rows, n, 0.1, -1, dlogits.data());
  }
  report_bytes(state, 2 * static_cast<int64_t>(sizeof(T)) * rows * n);
}

template <class T>
void dropout(benchmark::State& state) {
  const int64_t n = state.range(0), queries = 25, heads = 768000 / n / queries;  // [heads,1,queries,n]
  const auto x = numbers<T>(heads * queries * n);
  std::vector<T> y(x.size());
  for (auto _ : state) kernels::dropout(x.data(), {1, 0, {heads, 1, queries, n}}, 0.1, y.data());
  report_bytes(state, 2 * static_cast<int64_t>(sizeof(T)) * heads * queries * n);
}

void gather_rows(benchmark::State& state) {
  const int64_t vocabulary = 8000, count = 3000, width = state.range(0);
  const auto table = numbers(vocabulary * width);
  const auto ids = row_ids(count, vocabulary);
  std::vector<float> out(static_cast<size_t>(count * width));
  for (auto _ : state) kernels::gather_rows(table.data(), width, ids.data(), count, out.data());
  report_bytes(state, 8 * count * width);
}

void scatter_add_rows(benchmark::State& state) {
  const int64_t vocabulary = 8000, count = 3000, width = state.range(0);
  auto table = numbers(vocabulary * width);
  const auto ids = row_ids(count, vocabulary);
  const auto rows = numbers(count * width);
  for (auto _ : state) kernels::scatter_add_rows(rows.data(), width, ids.data(), count, table.data());
  report_bytes(state, 12 * count * width);
}

BENCHMARK(softmax)->Arg(12)->Arg(25)->Arg(100)->Arg(512)->UseRealTime();
BENCHMARK(softmax_plain)->Arg(12)->Arg(25)->Arg(100)->Arg(512)->UseRealTime();
BENCHMARK(softmax_causal)->Arg(12)->Arg(25)->Arg(100)->Arg(512)->UseRealTime();
BENCHMARK(softmax_backward)->Arg(12)->Arg(25)->Arg(100)->Arg(512)->UseRealTime();
// In double every kernel is its plain definition.
BENCHMARK_TEMPLATE(layer_norm, float)->Arg(256)->Arg(512)->UseRealTime();
BENCHMARK_TEMPLATE(layer_norm, double)->Arg(256)->UseRealTime();
BENCHMARK_TEMPLATE(layer_norm_backward, float)->Arg(256)->Arg(512)->UseRealTime();
BENCHMARK_TEMPLATE(layer_norm_backward, double)->Arg(256)->UseRealTime();
BENCHMARK_TEMPLATE(cross_entropy, float)->Arg(8000)->UseRealTime();
BENCHMARK_TEMPLATE(cross_entropy, double)->Arg(8000)->UseRealTime();
BENCHMARK_TEMPLATE(cross_entropy_backward, float)->Arg(8000)->UseRealTime();
BENCHMARK_TEMPLATE(cross_entropy_backward, double)->Arg(8000)->UseRealTime();
BENCHMARK_TEMPLATE(dropout, float)->Arg(12)->Arg(25)->Arg(256)->UseRealTime();
BENCHMARK_TEMPLATE(dropout, double)->Arg(25)->Arg(256)->UseRealTime();
BENCHMARK(gather_rows)->Arg(256)->UseRealTime();
BENCHMARK(scatter_add_rows)->Arg(256)->UseRealTime();

}  // namespace
}  // namespace glass::bench
