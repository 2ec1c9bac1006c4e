#include "kernels/layer_norm.h"

#include <cmath>
#include <vector>

#include "kernels/strided.h"

namespace glass::kernels {

namespace {

constexpr int lanes = 16;  // independent partial sums: fixed, so that every instruction set adds in one order

// Σ term(j) for j in [0,n)
template <class T, class Term>
T lane_sum(int64_t n, Term term) {
  T sums[lanes] = {};
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    for (int lane = 0; lane < lanes; ++lane) sums[lane] += term(j + lane);
  }
  for (int lane = 0; j < n; ++j, ++lane) sums[lane] += term(j);
  for (int half = lanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

int64_t rows_per_chunk(int64_t n) { return std::max<int64_t>(1, element_chunk / std::max<int64_t>(1, n)); }

// dx = rstd·(g − mean(g) − x̂·mean(g·x̂)), with g = dy·weight and x̂ = (x − mean)·rstd
template <class T>
void input_gradient_row(const T* dy, const T* x, const T* weight, T mean, T rstd, int64_t n, T* dx) {
  const T count = static_cast<T>(n);
  const T mean_g = lane_sum<T>(n, [&](int64_t j) { return dy[j] * weight[j]; }) / count;
  const T mean_gx = lane_sum<T>(n, [&](int64_t j) { return dy[j] * weight[j] * (x[j] - mean); }) * rstd / count;
  for (int64_t j = 0; j < n; ++j) dx[j] = rstd * (dy[j] * weight[j] - mean_g - (x[j] - mean) * rstd * mean_gx);
}

// Parameter gradients: rows in chunks of fixed size, the chunks' sums added in order.
template <class T>
void parameter_gradients(const T* dy, const T* x, const T* mean, const T* rstd, int64_t rows, int64_t n, T* dweight,
                         T* dbias) {
  const int64_t chunk = std::max<int64_t>(1, (rows + 15) / 16), chunks = (rows + chunk - 1) / chunk;
  std::vector<T> partial(static_cast<size_t>(chunks * 2 * n));
  parallel_for(rows, chunk, [&](int64_t begin, int64_t end) {
    T* weight_sum = partial.data() + begin / chunk * 2 * n;
    T* bias_sum = weight_sum + n;
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t j = 0; j < n; ++j) {
        weight_sum[j] += dy[r * n + j] * (x[r * n + j] - mean[r]) * rstd[r];
        bias_sum[j] += dy[r * n + j];
      }
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
  parallel_for(rows, rows_per_chunk(n), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* row = x + r * n;
      const T m = lane_sum<T>(n, [&](int64_t j) { return row[j]; }) / static_cast<T>(n);
      const T variance = lane_sum<T>(n, [&](int64_t j) { return (row[j] - m) * (row[j] - m); }) / static_cast<T>(n);
      const T s = 1 / std::sqrt(variance + static_cast<T>(epsilon));
      for (int64_t j = 0; j < n; ++j) y[r * n + j] = (row[j] - m) * s * weight[j] + bias[j];
      mean[r] = m;
      rstd[r] = s;
    }
  });
}

template <class T>
void layer_norm_backward(const T* dy, const T* x, const T* weight, const T* mean, const T* rstd, int64_t rows,
                         int64_t n, T* dx, T* dweight, T* dbias) {
  if (dx != nullptr) {
    parallel_for(rows, rows_per_chunk(n), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        input_gradient_row(dy + r * n, x + r * n, weight, mean[r], rstd[r], n, dx + r * n);
      }
    });
  }
  if (dweight != nullptr || dbias != nullptr) parameter_gradients(dy, x, mean, rstd, rows, n, dweight, dbias);
}

#define GLASS_INSTANTIATE(T)                                                                                \
  template void layer_norm(const T*, const T*, const T*, int64_t, int64_t, double, T*, T*, T*);             \
  template void layer_norm_backward(const T*, const T*, const T*, const T*, const T*, int64_t, int64_t, T*, T*, T*);
GLASS_INSTANTIATE(float)
GLASS_INSTANTIATE(double)

}  // namespace glass::kernels
