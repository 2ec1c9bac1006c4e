// A weight matrix in fewer bytes, for computing without gradients. Each row is a scale times whole numbers of eight
// bits (Wu et al., 2016, section 6), and the input is rounded to bf16.
#pragma once

#include <memory>

#include "glassformer/tensor/tensor.h"

namespace glass {

// Immutable and cheap to copy. The numbers are kept in two forms, and a product takes the one that is read or
// multiplied faster at its size; both give the same but for the order of their sums, so that a sentence's neighbours in
// a batch change the last digits only.
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
