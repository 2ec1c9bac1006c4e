#include "glassformer/autograd/compact_weight.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "autograd/op_support.h"
#include "glassformer/base/isa.h"
#include "kernels/gemm.h"
#include "kernels/int8_dot.h"
#include "kernels/int8_product.h"

namespace glass {

// One form where the processor multiplies bytes. Elsewhere two: few rows read the bytes, many multiply them as bf16,
// which holds such whole numbers exactly.
struct CompactWeight::Numbers {
  Dim out = 0, in = 0;
  std::vector<float> scales;
  kernels::Int8Panels panels;
  std::vector<int8_t> bytes;
  Tensor bf16;

  kernels::Int8Matrix matrix() const { return {bytes.data(), scales.data(), out, in}; }
  int8_t at(Dim row, Dim column) const {
    return has_int8_products() ? panels.at(row, column) : bytes[static_cast<size_t>(row * in + column)];
  }
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
  numbers->scales.resize(static_cast<size_t>(weight.size(0)));
  std::vector<int8_t> bytes(static_cast<size_t>(weight.numel()));
  kernels::quantize_rows(dense.data<float>(), numbers->out, numbers->in, bytes.data(), numbers->scales.data());
  if (has_int8_products()) {
    numbers->panels = {bytes.data(), numbers->scales.data(), numbers->out, numbers->in};
  } else {
    numbers->bf16 = Tensor::empty(weight.shape(), DType::bf16);
    std::transform(bytes.begin(), bytes.end(), numbers->bf16.data<bfloat16>(),
                   [](int8_t number) { return bfloat16(static_cast<float>(number)); });
    numbers->bytes = std::move(bytes);
  }
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

Shape shape_of_product(const Tensor& x, Dim out) {
  Shape shape = x.shape();
  shape[-1] = out;
  return shape;
}

}  // namespace

Tensor CompactWeight::product(const Tensor& x, const Tensor& bias) const {
  const Numbers& w = *numbers_;
  require_float("linear", x);
  if (x.rank() < 1 || x.size(-1) != w.in) {
    throw ShapeError("linear: input " + x.shape().text() + " does not fit weight [" + std::to_string(w.out) + "," +
                     std::to_string(w.in) + "] [out,in]");
  }
  const Tensor addend = bias.defined() ? bias.detach().contiguous() : Tensor();
  const float* b = bias.defined() ? std::as_const(addend).data<float>() : nullptr;
  const Tensor input = as_rows(x);  // [N,in]
  const Dim rows = input.size(0);
  Tensor y = Tensor::empty({rows, w.out});
  if (has_int8_products()) {
    const Tensor wide = input.to(DType::f32);
    kernels::int8_dot(wide.data<float>(), rows, w.panels, b, y.data<float>());
    return y.reshaped(shape_of_product(x, w.out));
  }
  const Tensor rounded = input.to(DType::bf16);
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
  return y.reshaped(shape_of_product(x, w.out));
}

Tensor CompactWeight::widened() const {
  const Numbers& w = *numbers_;
  Tensor wide = Tensor::empty({w.out, w.in});
  float* to = wide.data<float>();
  for (Dim row = 0; row < w.out; ++row) {
    for (Dim column = 0; column < w.in; ++column) {
      *to++ = w.scales[static_cast<size_t>(row)] * static_cast<float>(w.at(row, column));
    }
  }
  return wide;
}

}  // namespace glass
