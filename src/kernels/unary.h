// Functions of one variable over dense arrays, and their derivatives given the upstream gradient.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace glass::kernels {

enum class Unary { exp, log, sqrt, tanh, sigmoid, gelu, gelu_tanh };

// y = f(x)
void unary(Unary f, const float* x, int64_t count, float* y);
void unary(Unary f, const double* x, int64_t count, double* y);

// dx = dy · f'(x). `saved` is what the derivative is written in: y for exp, sqrt, tanh and sigmoid, x for log and
// the two GELUs.
void unary_backward(Unary f, const float* dy, const float* saved, int64_t count, float* dx);
void unary_backward(Unary f, const double* dy, const double* saved, int64_t count, double* dx);

// Whether `saved` is y rather than x.
constexpr bool derivative_needs_output(Unary f) { return f != Unary::log && f != Unary::gelu && f != Unary::gelu_tanh; }

namespace plain {

// √(2/π), and the cubic's coefficient, of GELU's approximation by tanh.
template <class T>
inline constexpr T gelu_slope = T(0.79788456080286535588);
template <class T>
inline constexpr T gelu_cubic = T(0.044715);

template <class T>
T unary(Unary f, T x) {
  switch (f) {
    case Unary::exp:
      return std::exp(x);
    case Unary::log:
      return std::log(x);
    case Unary::sqrt:
      return std::sqrt(x);
    case Unary::tanh:
      return std::tanh(x);
    case Unary::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Unary::gelu:
      return x / 2 * (1 + std::erf(x / std::numbers::sqrt2_v<T>));
    case Unary::gelu_tanh:
      return x / 2 * (1 + std::tanh(gelu_slope<T> * (x + gelu_cubic<T> * x * x * x)));
  }
  return x;
}

// f'(x), in terms of y or x as derivative_needs_output() says.
template <class T>
T derivative(Unary f, T saved) {
  switch (f) {
    case Unary::exp:
      return saved;
    case Unary::log:
      return 1 / saved;
    case Unary::sqrt:
      return 1 / (2 * saved);
    case Unary::tanh:
      return 1 - saved * saved;
    case Unary::sigmoid:
      return saved * (1 - saved);
    case Unary::gelu: {
      const T x = saved;
      const T cumulative = (1 + std::erf(x / std::numbers::sqrt2_v<T>)) / 2;
      return cumulative + x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi_v<T>);
    }
    case Unary::gelu_tanh: {
      const T x = saved;
      const T t = std::tanh(gelu_slope<T> * (x + gelu_cubic<T> * x * x * x));
      return (1 + t) / 2 + x / 2 * (1 - t * t) * gelu_slope<T> * (1 + 3 * gelu_cubic<T> * x * x);
    }
  }
  return saved;
}

}  // namespace plain
}  // namespace glass::kernels
