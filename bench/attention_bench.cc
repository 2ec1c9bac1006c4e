// Attention by blocks and by its definition, forward and backward, and products with weights in bytes.
#include "glassformer/nn/attention.h"
#include "kernels/int8_product.h"
#include "numbers.h"

namespace glass::bench {
namespace {

using Attention = decltype(&scaled_dot_product_attention);

// H 8, K 64, 4,096 tokens in rows of T.
void run_attention(benchmark::State& state, Attention attention, const AttentionMask& mask) {
  const Dim T = state.range(0), B = std::max<Dim>(1, 4096 / T), H = 8, K = 64;
  const Shape shape{B, H, T, K};
  Tensors inputs;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    inputs.push_back(Tensor::from(numbers(shape.numel(), seed), shape).set_requires_grad(true));
  }
  const Tensor upstream = Tensor::from(numbers(shape.numel(), 4), shape);
  for (auto _ : state) {
    backward(attention(inputs[0], inputs[1], inputs[2], mask, 0.125, 0, {}, nullptr), upstream);
    for (Tensor& input : inputs) input.set_grad({});
  }
  const double pairs = static_cast<double>(B * H * T) * static_cast<double>(mask.is_causal() ? (T + 1) / 2 : T);
  report_flops(state, 3 * 4 * K * pairs);
}

void attention(benchmark::State& state) { run_attention(state, &scaled_dot_product_attention, {}); }
void attention_causal(benchmark::State& state) {
  run_attention(state, &scaled_dot_product_attention, AttentionMask::causal());
}
void attention_plain(benchmark::State& state) { run_attention(state, &plain::scaled_dot_product_attention, {}); }
// A function of the user's own, which allows everything.
void attention_own_mask(benchmark::State& state) {
  run_attention(state, &scaled_dot_product_attention, AttentionMask::function([](const ScoreBlock&, bool*) {}));
}

struct Int8Inputs {
  int64_t m, rows, columns;
  std::vector<float> x = numbers(m * columns), y = numbers(m * rows), scales = numbers(rows);
  std::vector<int8_t> values = std::vector<int8_t>(static_cast<size_t>(rows * columns), 3);

  kernels::Int8Matrix matrix() const { return {values.data(), scales.data(), rows, columns}; }
};

void int8_product(benchmark::State& state) {
  Int8Inputs in{state.range(0), state.range(1), state.range(2)};
  for (auto _ : state) kernels::int8_product(in.x.data(), in.m, in.matrix(), nullptr, in.y.data());
  report_bytes(state, in.rows * in.columns);
}

void int8_product_plain(benchmark::State& state) {
  Int8Inputs in{state.range(0), state.range(1), state.range(2)};
  for (auto _ : state) kernels::plain::int8_product(in.x.data(), in.m, in.matrix(), nullptr, in.y.data());
  report_bytes(state, in.rows * in.columns);
}

BENCHMARK(attention)->Arg(32)->Arg(128)->Arg(512)->Arg(2048)->UseRealTime();
BENCHMARK(attention_causal)->Arg(32)->Arg(128)->Arg(512)->Arg(2048)->UseRealTime();
BENCHMARK(attention_plain)->Arg(32)->Arg(128)->Arg(512)->UseRealTime();
BENCHMARK(attention_own_mask)->Arg(512)->UseRealTime();
BENCHMARK(int8_product)->Args({1, 2048, 512})->Args({4, 2048, 512})->Args({1, 8000, 512})->UseRealTime();
BENCHMARK(int8_product_plain)->Args({1, 2048, 512})->UseRealTime();

}  // namespace
}  // namespace glass::bench
