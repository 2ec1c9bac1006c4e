// In what numbers products with weights, and attention's, are multiplied. In bf16 the operands are rounded to 8
// significant bits, and their products are still summed in float32; weights, norms, softmax and loss stay float32
// (Micikevicius et al., 2018, with Kalamkar et al., 2019 on why bf16 needs no loss scale).
#pragma once

namespace glass {

enum class Precision { f32, bf16 };

// While it lives, linear() and scaled_dot_product_attention() of float32 tensors called on this thread multiply in
// `precision`, and so does the backward pass of those calls, whenever it runs. float64 is never rounded.
class PrecisionScope {
 public:
  explicit PrecisionScope(Precision precision);
  ~PrecisionScope();
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  Precision outer_;
};

// Of the innermost scope on this thread; f32 outside of any.
Precision precision();

}  // namespace glass
