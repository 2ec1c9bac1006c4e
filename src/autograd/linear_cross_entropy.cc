// The output layer and its loss in one: a few rows of logits at a time, which stay in the cache from their product to
// their gradient's. The gradient is ready before the backward pass asks for it, since that can only scale it.
#include <algorithm>

#include "autograd/matrix_product.h"
#include "autograd/op_support.h"
#include "kernels/cross_entropy.h"
#include "kernels/elementwise.h"
#include "kernels/reduce.h"

namespace glass {

namespace {

// So many that their logits take some 16 MB.
Dim rows_of_part(Dim classes) {
  constexpr Dim least = 48, logits = 1 << 22;
  return std::max(least, logits / std::max<Dim>(1, classes) / least * least);
}

// What is summed up, part by part; a gradient that nobody needs is undefined.
struct Sums {
  kernels::CrossEntropySums losses;
  Tensor x, weight, bias;
};

class Parts {
 public:
  Parts(const Tensor& rows, const Tensor& weight, const Tensor& bias, const Tensor& labels,
        const CrossEntropyOptions& options, Sums& sums)
      : rows_(rows),
        weight_(weight.contiguous().to(product_type(rows))),
        bias_(bias),
        labels_(labels),
        options_(options),
        sums_(sums) {}

  void run() {
    const Dim most = rows_of_part(weight_.size(0));
    for (Dim begin = 0; begin < rows_.size(0); begin += most) part(begin, std::min(rows_.size(0), begin + most));
  }

 private:
  void part(Dim begin, Dim end) {
    const Tensor x = rows_.narrowed(0, begin, end).to(weight_.dtype());  // [P,D]
    Tensor logits = product({x}, transposed(weight_));                   // [P,V]
    if (bias_.defined()) logits = add(logits, bias_);
    const bool any_gradient = sums_.x.defined() || sums_.weight.defined() || sums_.bias.defined();
    for_float(logits, [&]<class T>(T) { loss_of<T>(logits, begin, any_gradient); });
    if (!any_gradient) return;
    const Tensor gradient = logits.to(weight_.dtype());
    if (sums_.x.defined()) {
      Tensor of_part = sums_.x.narrowed(0, begin, end);
      product_into({gradient}, {weight_}, false, of_part);
    }
    if (sums_.weight.defined()) product_into(transposed(gradient), {x}, begin > 0, sums_.weight);
    if (sums_.bias.defined()) sums_.bias = add(sums_.bias, sum_to_shape(logits, sums_.bias.shape()));
  }

  // Their gradient takes the logits' place.
  template <class T>
  void loss_of(Tensor& logits, Dim begin, bool gradient_too) {
    const Dim rows = logits.size(0), classes = logits.size(1);
    const int64_t* labels = labels_.data<int64_t>() + begin;
    std::vector<T> log_sums(static_cast<size_t>(rows));
    T* x = logits.data<T>();
    const kernels::CrossEntropySums sums =
        kernels::cross_entropy(x, labels, rows, classes, options_.label_smoothing, options_.ignored, log_sums.data());
    sums_.losses.loss += sums.loss;
    sums_.losses.nll += sums.nll;
    if (!gradient_too) return;
    kernels::cross_entropy_backward(T{1}, x, labels, log_sums.data(), rows, classes, options_.label_smoothing,
                                    options_.ignored, x);
  }

  const Tensor rows_;    // [N,D]
  const Tensor weight_;  // [V,D], in the type of the products
  const Tensor bias_, labels_;
  const CrossEntropyOptions options_;
  Sums& sums_;
};

Tensor scaled(const Tensor& gradient, double factor, const Shape& shape) {
  if (!gradient.defined()) return {};
  return (factor == 1 ? gradient : mul(gradient, factor)).reshaped(shape);
}

// The same, or nothing where the leaf's own sum takes it.
Tensor weight_gradient(const Tensor& gradient, double factor, const Shape& shape, const LeafGradient& leaf) {
  if (!gradient.defined()) return {};
  const bool taken = leaf.take(gradient.dtype(), [&](Tensor& sum, bool add) {
    if (!add) sum.fill(0);
    for_float(gradient, [&]<class T>(T) {
      kernels::accumulate(gradient.data<T>(), gradient.numel(), static_cast<T>(factor), sum.data<T>());
    });
  });
  return taken ? Tensor() : scaled(gradient, factor, shape);
}

}  // namespace

Tensor linear_cross_entropy_sum(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& labels,
                                const CrossEntropyOptions& options, double* nll) {
  check_linear(x, weight, bias);
  const Tensor target = checked_labels(x.shape(), weight.size(0), labels, options);
  const Tensor rows = as_rows(x.detach());
  Sums sums;
  if (needs_grad({x})) sums.x = Tensor::empty(rows.shape(), rows.dtype());
  if (needs_grad({weight})) sums.weight = Tensor::empty(weight.shape(), weight.dtype());
  if (sums.weight.defined() && rows.size(0) == 0) sums.weight.fill(0);
  if (bias.defined() && needs_grad({bias})) sums.bias = Tensor::zeros(bias.shape(), bias.dtype());
  {
    const NoGrad values_only;
    Parts(rows, weight.detach(), bias.defined() ? bias.detach() : Tensor(), target, options, sums).run();
  }
  if (nll != nullptr) *nll = sums.losses.nll;
  const Tensors inputs = bias.defined() ? Tensors{x, weight, bias} : Tensors{x, weight};
  const Tensor y = Tensor::full({}, sums.losses.loss, x.dtype());
  return record("linear_cross_entropy", y, inputs,
                [sums, shape = x.shape(), weights = weight.shape(), count = inputs.size(),
                 leaf = LeafGradient(weight)](const Tensor& dy) {
                  const double upstream = dy.item();
                  Tensors grads{scaled(sums.x, upstream, shape), weight_gradient(sums.weight, upstream, weights, leaf)};
                  if (count == 3) grads.push_back(scaled(sums.bias, upstream, {weights[0]}));
                  return grads;
                });
}

}  // namespace glass
