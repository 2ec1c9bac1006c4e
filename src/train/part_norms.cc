#include "train/part_norms.h"

#include <cmath>

#include "kernels/reduce.h"

namespace glass {

namespace {

// Sums of squares over a part's elements.
struct Squares {
  std::string part;
  double gradient = 0, weights = 0, change = 0;
};

double squared_norm(const float* x, Dim count) {
  return kernels::squared_norm<float>({{x, static_cast<size_t>(count)}});
}

double squared_distance(const float* a, const float* b, Dim count) {
  double sum = 0;
  for (Dim i = 0; i < count; ++i) {
    const double apart = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += apart * apart;
  }
  return sum;
}

PartMetrics metrics_of(const Squares& s, double grad_scale) {
  return {s.part, std::sqrt(s.gradient) * grad_scale, s.weights > 0 ? std::sqrt(s.change / s.weights) : 0};
}

}  // namespace

std::string part_of(const std::string& parameter) {
  constexpr std::string_view layers = ".layers.";
  const size_t found = parameter.find(layers);
  const size_t end = found == std::string::npos ? parameter.rfind('.') : parameter.find('.', found + layers.size());
  return parameter.substr(0, end);
}

PartNorms::PartNorms(const ParameterStore& parameters)
    : parameters_(parameters), before_(parameters.values().clone()) {}

std::vector<PartMetrics> PartNorms::after_update(double grad_scale) const {
  const float* values = parameters_.values().data<float>();
  const float* before = before_.data<float>();
  std::vector<Squares> parts;
  for (const ParameterStore::Entry& entry : parameters_.entries()) {
    const std::string part = part_of(entry.names[0]);
    if (parts.empty() || parts.back().part != part) parts.push_back({part});
    const Dim count = entry.tensor.numel();
    const Tensor grad = ParameterStore::gradient(entry).contiguous();
    parts.back().gradient += squared_norm(grad.data<float>(), count);
    parts.back().weights += squared_norm(before + entry.offset, count);
    parts.back().change += squared_distance(values + entry.offset, before + entry.offset, count);
  }
  std::vector<PartMetrics> metrics;
  for (const Squares& squares : parts) metrics.push_back(metrics_of(squares, grad_scale));
  return metrics;
}

}  // namespace glass
