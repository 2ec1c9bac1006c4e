#include "kernels/cross_entropy.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cross_entropy.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/highway.h>

#include "kernels/softmax_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

// dx = exp(x − log_sum)·upstream − even
void probability_gradient_lanes(const float* x, int64_t n, float log_sum, float upstream, float even, float* dx) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto shift = hn::Set(d, log_sum), scale = hn::Set(d, upstream), less = hn::Set(d, even);
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    const auto p = hn::Exp(d, hn::Sub(hn::LoadU(d, x + j), shift));
    hn::StoreU(hn::MulSub(p, scale, less), d, dx + j);
  }
  for (; j < n; ++j) dx[j] = std::exp(x[j] - log_sum) * upstream - even;
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <vector>

#include "kernels/dispatch.h"
#include "kernels/reduce.h"
#include "kernels/softmax.h"
#include "kernels/strided.h"

namespace glass::kernels {

HWY_EXPORT(probability_gradient_lanes);

namespace {

void probability_gradient(const float* x, int64_t n, float log_sum, float upstream, float even, float* dx) {
  GLASS_DISPATCH(probability_gradient_lanes)(x, n, log_sum, upstream, even, dx);
}
void probability_gradient(const double* x, int64_t n, double log_sum, double upstream, double even, double* dx) {
  for (int64_t j = 0; j < n; ++j) dx[j] = std::exp(x[j] - log_sum) * upstream - even;
}

int64_t rows_per_chunk(int64_t n) { return std::max<int64_t>(1, element_chunk / std::max<int64_t>(1, n)); }

// −Σ_v target_v · log p_v, given −log p of the label.
template <class T>
double smoothed_loss(const T* x, int64_t n, double smoothing, T log_sum, double nll) {
  if (smoothing == 0) return nll;
  const double mean = static_cast<double>(row_sum(x, n)) / static_cast<double>(n);
  return (1 - smoothing) * nll + smoothing * (static_cast<double>(log_sum) - mean);
}

}  // namespace

template <class T>
CrossEntropySums cross_entropy(const T* logits, const int64_t* labels, int64_t rows, int64_t n, double smoothing,
                               int64_t ignored, T* log_sums) {
  std::vector<double> losses(static_cast<size_t>(rows)), nlls(static_cast<size_t>(rows));
  parallel_for(rows, rows_per_chunk(n), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      if (labels[r] == ignored) continue;
      log_sums[r] = log_sum_exp(logits + r * n, n);
      const T* row = logits + r * n;
      const double nll = static_cast<double>(log_sums[r]) - static_cast<double>(row[labels[r]]);
      nlls[static_cast<size_t>(r)] = nll;
      losses[static_cast<size_t>(r)] = smoothed_loss(row, n, smoothing, log_sums[r], nll);
    }
  });
  CrossEntropySums sums;
  for (int64_t r = 0; r < rows; ++r) {
    if (labels[r] == ignored) continue;
    sums.loss += losses[static_cast<size_t>(r)];
    sums.nll += nlls[static_cast<size_t>(r)];
    ++sums.count;
  }
  return sums;
}

template <class T>
void cross_entropy_backward(T upstream, const T* logits, const int64_t* labels, const T* log_sums, int64_t rows,
                            int64_t n, double smoothing, int64_t ignored, T* dlogits) {
  const T even = static_cast<T>(static_cast<double>(upstream) * smoothing / static_cast<double>(n));
  const T on_label = static_cast<T>(static_cast<double>(upstream) * (1 - smoothing));
  parallel_for(rows, rows_per_chunk(n), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      T* row = dlogits + r * n;
      if (labels[r] == ignored) {
        std::fill(row, row + n, T{0});
        continue;
      }
      probability_gradient(logits + r * n, n, log_sums[r], upstream, even, row);
      row[labels[r]] -= on_label;
    }
  });
}

#define GLASS_INSTANTIATE(T)                                                                                \
  template CrossEntropySums cross_entropy(const T*, const int64_t*, int64_t, int64_t, double, int64_t, T*); \
  template void cross_entropy_backward(T, const T*, const int64_t*, const T*, int64_t, int64_t, double, int64_t, T*);
GLASS_INSTANTIATE(float)
GLASS_INSTANTIATE(double)

}  // namespace glass::kernels
#endif
