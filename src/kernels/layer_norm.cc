#include "kernels/layer_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layer_norm.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/highway.h>

#include "kernels/row_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

void forward_row_lanes(const float* x, const float* weight, const float* bias, int64_t n, double epsilon, float* y,
                       float& mean, float& rstd) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const float count = static_cast<float>(n);
  mean = row_sum(x, n) / count;
  const auto means = hn::Set(d, mean);
  auto squares = hn::Zero(d);
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    const auto centred = hn::Sub(hn::LoadU(d, x + j), means);
    squares = hn::MulAdd(centred, centred, squares);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, squares));
  for (; j < n; ++j) sum += (x[j] - mean) * (x[j] - mean);
  rstd = 1 / std::sqrt(sum / count + static_cast<float>(epsilon));
  const auto scale = hn::Set(d, rstd);
  for (j = 0; j + lanes <= n; j += lanes) {
    const auto normal = hn::Mul(hn::Sub(hn::LoadU(d, x + j), means), scale);
    hn::StoreU(hn::MulAdd(normal, hn::LoadU(d, weight + j), hn::LoadU(d, bias + j)), d, y + j);
  }
  for (; j < n; ++j) y[j] = (x[j] - mean) * rstd * weight[j] + bias[j];
}

void input_gradient_row_lanes(const float* dy, const float* x, const float* weight, float mean, float rstd, int64_t n,
                              float* dx) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto means = hn::Set(d, mean), scale = hn::Set(d, rstd);
  auto sums_g = hn::Zero(d), sums_gx = hn::Zero(d);
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    const auto g = hn::Mul(hn::LoadU(d, dy + j), hn::LoadU(d, weight + j));
    sums_g = hn::Add(sums_g, g);
    sums_gx = hn::MulAdd(g, hn::Mul(hn::Sub(hn::LoadU(d, x + j), means), scale), sums_gx);
  }
  float sum_g = hn::GetLane(hn::SumOfLanes(d, sums_g)), sum_gx = hn::GetLane(hn::SumOfLanes(d, sums_gx));
  for (; j < n; ++j) {
    sum_g += dy[j] * weight[j];
    sum_gx += dy[j] * weight[j] * (x[j] - mean) * rstd;
  }
  const float mean_g = sum_g / static_cast<float>(n), mean_gx = sum_gx / static_cast<float>(n);
  for (j = 0; j + lanes <= n; j += lanes) {
    const auto g = hn::Mul(hn::LoadU(d, dy + j), hn::LoadU(d, weight + j));
    const auto normal = hn::Mul(hn::Sub(hn::LoadU(d, x + j), means), scale);
    const auto centred = hn::NegMulAdd(normal, hn::Set(d, mean_gx), hn::Sub(g, hn::Set(d, mean_g)));
    hn::StoreU(hn::Mul(scale, centred), d, dx + j);
  }
  for (; j < n; ++j) dx[j] = rstd * (dy[j] * weight[j] - mean_g - (x[j] - mean) * rstd * mean_gx);
}

void parameter_gradient_row_lanes(const float* dy, const float* x, float mean, float rstd, int64_t n, float* dweight,
                                  float* dbias) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto means = hn::Set(d, mean), scale = hn::Set(d, rstd);
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    const auto upstream = hn::LoadU(d, dy + j);
    const auto normal = hn::Mul(hn::Sub(hn::LoadU(d, x + j), means), scale);
    hn::StoreU(hn::MulAdd(upstream, normal, hn::LoadU(d, dweight + j)), d, dweight + j);
    hn::StoreU(hn::Add(upstream, hn::LoadU(d, dbias + j)), d, dbias + j);
  }
  for (; j < n; ++j) {
    dweight[j] += dy[j] * (x[j] - mean) * rstd;
    dbias[j] += dy[j];
  }
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <vector>

#include "kernels/dispatch.h"
#include "kernels/strided.h"

namespace glass::kernels {

HWY_EXPORT(forward_row_lanes);
HWY_EXPORT(input_gradient_row_lanes);
HWY_EXPORT(parameter_gradient_row_lanes);

namespace {

// One row's functions for a number type.
template <class T>
struct RowKernels {
  decltype(&plain::layer_norm_row<T>) forward = plain::layer_norm_row<T>;
  decltype(&plain::layer_norm_input_gradient_row<T>) input_gradient = plain::layer_norm_input_gradient_row<T>;
  decltype(&plain::layer_norm_parameter_gradient_row<T>) parameter_gradient =
      plain::layer_norm_parameter_gradient_row<T>;
};

template <class T>
RowKernels<T> row_kernels() {
  if constexpr (std::is_same_v<T, float>) {
    return {GLASS_DISPATCH(forward_row_lanes), GLASS_DISPATCH(input_gradient_row_lanes),
            GLASS_DISPATCH(parameter_gradient_row_lanes)};
  } else {
    return {};
  }
}

int64_t rows_per_chunk(int64_t n) { return std::max<int64_t>(1, element_chunk / std::max<int64_t>(1, n)); }

// Rows in chunks of fixed size, the chunks' sums added in order.
template <class T>
void parameter_gradients(const T* dy, const T* x, const T* mean, const T* rstd, int64_t rows, int64_t n, T* dweight,
                         T* dbias) {
  const int64_t chunk = std::max<int64_t>(1, (rows + 15) / 16), chunks = (rows + chunk - 1) / chunk;
  std::vector<T> partial(static_cast<size_t>(chunks * 2 * n));
  const RowKernels<T> kernels = row_kernels<T>();
  parallel_for(rows, chunk, [&](int64_t begin, int64_t end) {
    T* weight_sum = partial.data() + begin / chunk * 2 * n;
    for (int64_t r = begin; r < end; ++r) {
      kernels.parameter_gradient(dy + r * n, x + r * n, mean[r], rstd[r], n, weight_sum, weight_sum + n);
    }
  });
  auto add_up = [&](int64_t from, T* out) {
    if (out == nullptr) return;
    std::fill(out, out + n, T{0});
    for (int64_t c = 0; c < chunks; ++c) {
      for (int64_t j = 0; j < n; ++j) out[j] += partial[static_cast<size_t>(c * 2 * n + from + j)];
    }
  };
  add_up(0, dweight);
  add_up(n, dbias);
}

}  // namespace

template <class T>
void layer_norm(const T* x, const T* weight, const T* bias, int64_t rows, int64_t n, double epsilon, T* y, T* mean,
                T* rstd) {
  const RowKernels<T> kernels = row_kernels<T>();
  parallel_for(rows, rows_per_chunk(n), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      kernels.forward(x + r * n, weight, bias, n, epsilon, y + r * n, mean[r], rstd[r]);
    }
  });
}

template <class T>
void layer_norm_backward(const T* dy, const T* x, const T* weight, const T* mean, const T* rstd, int64_t rows,
                         int64_t n, T* dx, T* dweight, T* dbias) {
  if (dx != nullptr) {
    const RowKernels<T> kernels = row_kernels<T>();
    parallel_for(rows, rows_per_chunk(n), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        kernels.input_gradient(dy + r * n, x + r * n, weight, mean[r], rstd[r], n, dx + r * n);
      }
    });
  }
  if (dweight != nullptr || dbias != nullptr) parameter_gradients(dy, x, mean, rstd, rows, n, dweight, dbias);
}

#define GLASS_INSTANTIATE(T)                                                                    \
  template void layer_norm(const T*, const T*, const T*, int64_t, int64_t, double, T*, T*, T*); \
  template void layer_norm_backward(const T*, const T*, const T*, const T*, const T*, int64_t, int64_t, T*, T*, T*);
GLASS_INSTANTIATE(float)
GLASS_INSTANTIATE(double)

}  // namespace glass::kernels
#endif
