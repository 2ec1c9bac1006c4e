#include "glassformer/data/series.h"

#include <cmath>
#include <numbers>

#include "glassformer/base/random.h"

namespace glass {

namespace {

// value(window, step) for every point, the first `history` of each window apart from the rest.
template <class Value>
Windows generate(Dim count, Dim history, Dim horizon, Value value) {
  Windows windows{Tensor::empty({count, history, 1}), Tensor::empty({count, horizon, 1})};
  float* past = windows.history.data<float>();
  float* future = windows.future.data<float>();
  for (Dim window = 0; window < count; ++window) {
    for (Dim step = 0; step < history; ++step) *past++ = static_cast<float>(value(window, step));
    for (Dim step = history; step < history + horizon; ++step) *future++ = static_cast<float>(value(window, step));
  }
  return windows;
}

}  // namespace

Windows sine_tutorial(Dim count, Dim history, Dim horizon, double noise, uint64_t seed) {
  Random random(hash_combine(seed, hash_text("sine_tutorial")));
  const double step_size = 4 * std::numbers::pi / static_cast<double>(history + horizon - 1);
  return generate(count, history, horizon, [&](Dim /*window*/, Dim step) {
    return std::sin(static_cast<double>(step) * step_size) + noise * static_cast<double>(random.normal());
  });
}

Windows sine_random(Dim count, Dim history, Dim horizon, double noise, uint64_t seed) {
  Random random(hash_combine(seed, hash_text("sine_random")));
  double phase = 0, frequency = 1;
  return generate(count, history, horizon, [&](Dim /*window*/, Dim step) {
    if (step == 0) {
      phase = 2 * std::numbers::pi * static_cast<double>(random.uniform());
      frequency = static_cast<double>(random.uniform(0.5f, 1.5f));  // of 4π/14 a step, the tutorial's
    }
    const double angle = phase + frequency * 4 * std::numbers::pi / 14 * static_cast<double>(step);
    return std::sin(angle) + noise * static_cast<double>(random.normal());
  });
}

}  // namespace glass
