// Single-head attention on "cat sat mat", in its four steps, each with its shape and its numbers.
#include <cmath>
#include <cstdio>

#include "glassformer/autograd/ops.h"

using namespace glass;

int main() {
  // Three tokens of width 4; in a real model they come from an embedding.
  const Tensor x = Tensor::from({1.0f, 0.0f, 1.0f, 0.0f,   // cat
                                 0.0f, 2.0f, 0.0f, 2.0f,   // sat
                                 1.0f, 1.0f, 1.0f, 1.0f},  // mat
                                {3, 4});                   // [T,D]

  const Tensor to_query = Tensor::from({1.0f, 0.0f, 1.0f, 0.0f, 0.0f, 1.0f, 0.0f, 1.0f}, {2, 4});  // [K,D]
  const Tensor to_key = Tensor::from({0.0f, 1.0f, 0.0f, 1.0f, 1.0f, 0.0f, 1.0f, 0.0f}, {2, 4});
  const Tensor to_value = Tensor::from({1.0f, 1.0f, 0.0f, 0.0f, 0.0f, 0.0f, 1.0f, 1.0f}, {2, 4});

  // 1. Project: every token asks (query), offers (key) and tells (value).
  const Tensor query = linear(x, to_query, {});  // [T,K]
  const Tensor key = linear(x, to_key, {});      // [T,K]
  const Tensor value = linear(x, to_value, {});  // [T,K]
  std::printf("query %s\nkey %s\nvalue %s\n", query.text(2).c_str(), key.text(2).c_str(), value.text(2).c_str());

  // 2. Scores: how well each query fits each key, scaled so that their spread does not grow with the width K.
  const Tensor scores = matmul(query, transpose(key, 0, 1)) * (1 / std::sqrt(2.0));  // [T,T]
  std::printf("scores %s\n", scores.text(2).c_str());

  // 3. Softmax over the keys: each row becomes weights that add up to 1.
  const Tensor weights = softmax(scores);  // [T,T]
  std::printf("weights %s\n", weights.text(2).c_str());

  // 4. Weighted sum of the values.
  const Tensor context = matmul(weights, value);  // [T,K]
  std::printf("context %s\n", context.text(2).c_str());

  for (Dim row = 0; row < 3; ++row) {
    const double total = weights.at({row, 0}) + weights.at({row, 1}) + weights.at({row, 2});
    if (std::abs(total - 1) > 1e-5) return 1;
  }
  return 0;
}
