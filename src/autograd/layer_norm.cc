#include "kernels/layer_norm.h"

#include "autograd/op_support.h"

namespace glass {

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon) {
  require_same_float("layer_norm", x, weight);
  require_same_float("layer_norm", x, bias);
  const Dim n = x.rank() == 0 ? 0 : x.size(-1);
  if (n == 0 || !(weight.shape() == Shape{n}) || !(bias.shape() == Shape{n})) {
    throw ShapeError("layer_norm: input " + x.shape().text() + " does not fit weight " + weight.shape().text() +
                     " and bias " + bias.shape().text());
  }
  const Tensor dense = x.contiguous(), scale = weight.contiguous(), shift = bias.contiguous();
  const Dim rows = x.numel() / n;
  Tensor y = Tensor::empty(x.shape(), x.dtype());  // y = (x − mean)·rstd·weight + bias
  Tensor mean = Tensor::empty({rows}, x.dtype()), rstd = Tensor::empty({rows}, x.dtype());
  for_float(x, [&]<class T>(T) {
    kernels::layer_norm(dense.data<T>(), scale.data<T>(), shift.data<T>(), rows, n, epsilon, y.data<T>(),
                        mean.data<T>(), rstd.data<T>());
  });
  if (!needs_grad({x, weight, bias})) return record("layer_norm", y, {x, weight, bias}, {});
  const bool to_x = needs_grad({x}), to_weight = needs_grad({weight}), to_bias = needs_grad({bias});
  return record("layer_norm", y, {x, weight, bias},
                [x = save(dense), weight = save(scale), mean = save(mean), rstd = save(rstd), rows, n, to_x, to_weight,
                 to_bias](const Tensor& dy) {
                  const Tensor upstream = dy.contiguous();
                  Tensor dx = to_x ? Tensor::empty(dy.shape(), dy.dtype()) : Tensor();
                  Tensor dweight = to_weight ? Tensor::empty({n}, dy.dtype()) : Tensor();
                  Tensor dbias = to_bias ? Tensor::empty({n}, dy.dtype()) : Tensor();
                  for_float(dy, [&]<class T>(T) {
                    kernels::layer_norm_backward(upstream.data<T>(), x->data<T>(), weight->data<T>(), mean->data<T>(),
                                                 rstd->data<T>(), rows, n, to_x ? dx.data<T>() : nullptr,
                                                 to_weight ? dweight.data<T>() : nullptr,
                                                 to_bias ? dbias.data<T>() : nullptr);
                  });
                  return Tensors{dx, dweight, dbias};
                });
}

}  // namespace glass
