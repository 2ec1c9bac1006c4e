// Layer normalisation of rows of n numbers (Ba, Kiros & Hinton, 2016).
#pragma once

#include <cmath>
#include <cstdint>

namespace glass::kernels {

// y = (x − mean)·rstd·weight + bias, rstd = 1/√(variance + epsilon) with the biased variance. Saves mean and rstd,
// [rows].
template <class T>
void layer_norm(const T* x, const T* weight, const T* bias, int64_t rows, int64_t n, double epsilon, T* y, T* mean,
                T* rstd);

// Each of dx [rows,n], dweight [n] and dbias [n] may be null; they are overwritten.
template <class T>
void layer_norm_backward(const T* dy, const T* x, const T* weight, const T* mean, const T* rstd, int64_t rows,
                         int64_t n, T* dx, T* dweight, T* dbias);

namespace plain {

template <class T>
void layer_norm_row(const T* x, const T* weight, const T* bias, int64_t n, double epsilon, T* y, T& mean, T& rstd) {
  const T count = static_cast<T>(n);
  T sum = 0, squares = 0;
  for (int64_t j = 0; j < n; ++j) sum += x[j];
  mean = sum / count;
  for (int64_t j = 0; j < n; ++j) squares += (x[j] - mean) * (x[j] - mean);
  rstd = 1 / std::sqrt(squares / count + static_cast<T>(epsilon));
  for (int64_t j = 0; j < n; ++j) y[j] = (x[j] - mean) * rstd * weight[j] + bias[j];
}

// dx = rstd·(g − mean(g) − x̂·mean(g·x̂)), with g = dy·weight and x̂ = (x − mean)·rstd
template <class T>
void layer_norm_input_gradient_row(const T* dy, const T* x, const T* weight, T mean, T rstd, int64_t n, T* dx) {
  const T count = static_cast<T>(n);
  T sum_g = 0, sum_gx = 0;
  for (int64_t j = 0; j < n; ++j) {
    sum_g += dy[j] * weight[j];
    sum_gx += dy[j] * weight[j] * (x[j] - mean) * rstd;
  }
  for (int64_t j = 0; j < n; ++j) {
    dx[j] = rstd * (dy[j] * weight[j] - sum_g / count - (x[j] - mean) * rstd * (sum_gx / count));
  }
}

// dweight += dy·x̂, dbias += dy
template <class T>
void layer_norm_parameter_gradient_row(const T* dy, const T* x, T mean, T rstd, int64_t n, T* dweight, T* dbias) {
  for (int64_t j = 0; j < n; ++j) {
    dweight[j] += dy[j] * (x[j] - mean) * rstd;
    dbias[j] += dy[j];
  }
}

}  // namespace plain
}  // namespace glass::kernels
