// A weight matrix in fewer bytes, for computing without gradients. Each row is a scale times whole numbers of eight
// bits (Wu et al., 2016, section 6). Where the processor multiplies bytes by bytes, each row of the input is rounded to
// such numbers too, by its own largest; elsewhere to bf16.
#pragma once

#include <memory>

#include "glassformer/tensor/tensor.h"

namespace glass {

// Immutable and cheap to copy. With products of bytes a row's result has the same bits in every batch; elsewhere a
// sentence's neighbours change the last digits, since a product of few rows and one of many sum in another order.
class CompactWeight {
 public:
  // Of weight [out,in], float32. Throws TypeError or ShapeError for another.
  explicit CompactWeight(const Tensor& weight);

  // y = x Ŵᵀ + bias, x [..,in] -> [..,out]. Records nothing for differentiation.
  Tensor product(const Tensor& x, const Tensor& bias) const;
  // Ŵ, which the products are made with, [out,in].
  Tensor widened() const;

 private:
  struct Numbers;
  std::shared_ptr<const Numbers> numbers_;
};

}  // namespace glass
