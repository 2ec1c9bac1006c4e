#include "inspect/logit_rows.h"

#include <algorithm>
#include <cmath>

namespace glass {

std::span<const float> logit_row(const Tensor& logits, Dim t) {
  return {logits.data<float>() + t * logits.size(2), static_cast<size_t>(logits.size(2))};
}

double log_sum_exp(std::span<const float> row) {
  const auto largest = static_cast<double>(*std::max_element(row.begin(), row.end()));
  double sum = 0;
  for (const float x : row) sum += std::exp(static_cast<double>(x) - largest);
  return largest + std::log(sum);
}

double row_divergence(std::span<const float> p, std::span<const float> q) {
  const double p_norm = log_sum_exp(p), q_norm = log_sum_exp(q);
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const double log_p = static_cast<double>(p[i]) - p_norm, log_q = static_cast<double>(q[i]) - q_norm;
    const double share = std::exp(log_p);
    if (share > 0) sum += share * (log_p - log_q);
  }
  return sum < 0 ? 0 : sum;  // it is not negative but for rounding, and NaN stays
}

}  // namespace glass
