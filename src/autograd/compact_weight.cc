#include "glassformer/autograd/compact_weight.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "autograd/op_support.h"
#include "kernels/gemm.h"
#include "kernels/int8_product.h"

namespace glass {

struct CompactWeight::Numbers {
  Dim out = 0, in = 0;
  std::vector<int8_t> bytes;
  std::vector<float> scales;
  Tensor bf16;  // the same whole numbers, which bf16 holds exactly

  kernels::Int8Matrix matrix() const { return {bytes.data(), scales.data(), out, in}; }
};

CompactWeight::CompactWeight(const Tensor& weight) {
  if (weight.dtype() != DType::f32) {
    throw TypeError("CompactWeight: the weight is float32, got " + std::string(dtype_name(weight.dtype())));
  }
  if (weight.rank() != 2) throw ShapeError("CompactWeight: the weight is [out,in], got " + weight.shape().text());
  const Tensor dense = weight.detach().contiguous();
  auto numbers = std::make_shared<Numbers>();
  numbers->out = weight.size(0);
  numbers->in = weight.size(1);
  numbers->bytes.resize(static_cast<size_t>(weight.numel()));
  numbers->scales.resize(static_cast<size_t>(weight.size(0)));
  kernels::quantize_rows(dense.data<float>(), numbers->out, numbers->in, numbers->bytes.data(), numbers->scales.data());
  numbers->bf16 = Tensor::empty(weight.shape(), DType::bf16);
  std::transform(numbers->bytes.begin(), numbers->bytes.end(), numbers->bf16.data<bfloat16>(),
                 [](int8_t number) { return bfloat16(static_cast<float>(number)); });
  numbers_ = std::move(numbers);
}

namespace {

// Where reading the weights still costs more than multiplying them.
constexpr Dim few_rows = 8;

// y[r,i] = scale_i·y[r,i] + bias_i
void scale_columns(float* y, Dim rows, const std::vector<float>& scales, const float* bias) {
  const auto columns = static_cast<Dim>(scales.size());
  for (Dim r = 0; r < rows; ++r, y += columns) {
    for (Dim i = 0; i < columns; ++i) y[i] = scales[static_cast<size_t>(i)] * y[i] + (bias != nullptr ? bias[i] : 0);
  }
}

}  // namespace

Tensor CompactWeight::product(const Tensor& x, const Tensor& bias) const {
  const Numbers& w = *numbers_;
  require_float("linear", x);
  if (x.rank() < 1 || x.size(-1) != w.in) {
    throw ShapeError("linear: input " + x.shape().text() + " does not fit weight [" + std::to_string(w.out) + "," +
                     std::to_string(w.in) + "] [out,in]");
  }
  const Tensor rounded = as_rows(x).to(DType::bf16);  // [N,in]
  const Tensor addend = bias.defined() ? bias.detach().contiguous() : Tensor();
  const float* b = bias.defined() ? std::as_const(addend).data<float>() : nullptr;
  const Dim rows = rounded.size(0);
  Tensor y = Tensor::empty({rows, w.out});
  if (rows <= few_rows) {
    const Tensor wide = rounded.to(DType::f32);
    kernels::int8_product(wide.data<float>(), rows, w.matrix(), b, y.data<float>());
  } else {
    const Dim in = std::max<Dim>(1, w.in);
    const Tensor& numbers = w.bf16;
    kernels::gemm({rows, w.out, w.in}, kernels::Matrix<bfloat16>{rounded.data<bfloat16>(), in, false},
                  kernels::Matrix<bfloat16>{numbers.data<bfloat16>(), in, true}, 0.0f, y.data<float>(), w.out);
    scale_columns(y.data<float>(), rows, w.scales, b);
  }
  Shape shape = x.shape();
  shape[-1] = w.out;
  return y.reshaped(shape);
}

Tensor CompactWeight::widened() const {
  const Numbers& w = *numbers_;
  Tensor wide = Tensor::empty({w.out, w.in});
  float* to = wide.data<float>();
  for (size_t i = 0; i < w.bytes.size(); ++i) {
    to[i] = w.scales[i / static_cast<size_t>(w.in)] * static_cast<float>(w.bytes[i]);
  }
  return wide;
}

}  // namespace glass
