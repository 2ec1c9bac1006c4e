// Inputs for the benchmarks.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "glassformer/base/random.h"

namespace glass::bench {

// `count` values in [−2,2), the same in every run.
template <class T = float>
std::vector<T> numbers(int64_t count, uint64_t seed = 1) {
  Random random(seed);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) value = static_cast<T>(random.uniform(-2, 2));
  return values;
}

// Row numbers in [0,bound).
inline std::vector<int64_t> row_ids(int64_t count, int64_t bound) {
  Random random(2);
  std::vector<int64_t> ids(static_cast<size_t>(count));
  for (int64_t& id : ids) id = static_cast<int64_t>(random.below(static_cast<uint64_t>(bound)));
  return ids;
}

// Reports bytes moved per second, `bytes` in each iteration.
inline void report_bytes(benchmark::State& state, int64_t bytes) {
  state.SetBytesProcessed(state.iterations() * bytes);
}

// Reports floating-point operations per second.
inline void report_flops(benchmark::State& state, double flops) {
  state.counters["flop/s"] = benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace glass::bench
