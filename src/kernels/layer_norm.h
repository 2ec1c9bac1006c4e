// Layer normalisation of rows of n numbers (Ba, Kiros & Hinton, 2016).
#pragma once

#include <cstdint>

namespace glass::kernels {

// y = (x − mean)·rstd·weight + bias, rstd = 1/√(variance + epsilon) with the biased variance. Saves mean and rstd, [rows].
template <class T>
void layer_norm(const T* x, const T* weight, const T* bias, int64_t rows, int64_t n, double epsilon, T* y, T* mean,
                T* rstd);

// Each of dx [rows,n], dweight [n] and dbias [n] may be null; they are overwritten.
template <class T>
void layer_norm_backward(const T* dy, const T* x, const T* weight, const T* mean, const T* rstd, int64_t rows,
                         int64_t n, T* dx, T* dweight, T* dbias);

}  // namespace glass::kernels
