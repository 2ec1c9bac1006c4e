// The optimiser's update of a model of 8 million parameters.
#include "kernels/adamw.h"
#include "numbers.h"

namespace glass::bench {
namespace {

void adamw(benchmark::State& state) {
  const int64_t count = 8'000'000;
  const auto grad = numbers(count);
  std::vector<float> parameter(grad), m(grad.size()), v(grad.size());
  kernels::AdamWStep step{1e-3, 0.9, 0.98, 1e-8, 0.01, 1, 1.0};
  for (auto _ : state) {
    kernels::adamw(step, {{grad.data(), count, parameter.data(), m.data(), v.data()}});
    ++step.step;
  }
  report_bytes(state, 28 * count);  // reads four arrays, writes three
}

BENCHMARK(adamw)->UseRealTime();

}  // namespace
}  // namespace glass::bench
