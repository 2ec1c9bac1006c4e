// What the tests of the operations share.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "glassformer/autograd/gradcheck.h"
#include "glassformer/autograd/ops.h"
#include "glassformer/base/error.h"
#include "glassformer/base/random.h"

namespace glass::test {

// Uniform numbers in [low, high), the same for the same shape and seed.
inline Tensor uniform(const Shape& shape, uint64_t seed = 1, DType dtype = DType::f64, double low = -1,
                      double high = 1) {
  Random random(seed);
  Tensor out = Tensor::empty(shape, DType::f64);
  for (Dim i = 0; i < out.numel(); ++i) {
    out.data<double>()[i] = low + (high - low) * static_cast<double>(random.uniform());
  }
  return out.to(dtype);
}

inline Tensor positive(const Shape& shape, uint64_t seed = 1) { return uniform(shape, seed, DType::f64, 0.5, 2); }

inline Tensor leaf(Tensor values) { return values.set_requires_grad(true); }

inline Tensor bools(const std::vector<int>& values, const Shape& shape) {
  return Tensor::from<int32_t>(std::vector<int32_t>(values.begin(), values.end()), shape).to(DType::boolean);
}

// Tolerances: 0 where the numbers are exact in binary, otherwise a few units of float64 times the size of the numbers.
inline void expect_values(const Tensor& actual, const Shape& shape, const std::vector<double>& expected,
                          double tolerance = 1e-12) {
  ASSERT_TRUE(actual.defined());
  ASSERT_EQ(actual.shape().text(), shape.text());
  const std::vector<double> values = actual.to_vector();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], tolerance) << "element " << i;
}

inline void expect_same_bits(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape().text(), b.shape().text());
  EXPECT_EQ(a.to_vector(), b.to_vector());
}

// That `f` throws an E whose message contains each of `parts`.
template <class E, class F>
void expect_error(F&& f, const std::vector<std::string>& parts) {
  try {
    f();
    FAIL() << "nothing was thrown";
  } catch (const E& error) {
    for (const std::string& part : parts) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "no \"" << part << "\" in: " << error.what();
    }
  }
}

inline void expect_gradcheck(const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs) {
  const GradcheckResult result = gradcheck(f, inputs);
  EXPECT_TRUE(result.ok) << result.worst << " at " << result.message;
}

}  // namespace glass::test
