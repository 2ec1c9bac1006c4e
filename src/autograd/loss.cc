// Losses with their derivatives.
#include <algorithm>

#include "autograd/op_support.h"
#include "kernels/cross_entropy.h"

namespace glass {

Tensor checked_labels(const Shape& rows, Dim classes, const Tensor& labels, const CrossEntropyOptions& options) {
  if (rows.rank() < 1 || rows.rank() != labels.rank() + 1 ||
      !std::equal(labels.shape().begin(), labels.shape().end(), rows.begin())) {
    throw ShapeError("cross_entropy: rows " + rows.text() + " do not fit labels " + labels.shape().text());
  }
  if (!(options.label_smoothing >= 0 && options.label_smoothing < 1)) {
    throw ValueError("cross_entropy: label_smoothing is in [0,1), got " + std::to_string(options.label_smoothing));
  }
  const Tensor dense = dense_ids("cross_entropy", labels);
  if (classes == 0) throw ShapeError("cross_entropy: rows " + rows.text() + " have no class");
  for (Dim i = 0; i < dense.numel(); ++i) {
    const int64_t label = dense.data<int64_t>()[i];
    if (label != options.ignored && (label < 0 || label >= classes)) {
      throw ValueError("cross_entropy: label " + std::to_string(label) + " at place " + std::to_string(i) +
                       " is outside of [0," + std::to_string(classes) + ")");
    }
  }
  return dense;
}

Tensor cross_entropy_sum(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options, double* nll) {
  require_float("cross_entropy", logits);
  if (logits.rank() == 0) throw ShapeError("cross_entropy: needs an axis of classes, got a scalar");
  const Tensor target = checked_labels(logits.shape(), logits.size(-1), labels, options);
  const Tensor dense = logits.contiguous();
  const Dim n = logits.size(-1), rows = target.numel();
  Tensor log_sums = Tensor::empty({rows}, logits.dtype());
  // y = Σ_rows [(1−ε)(lse − x_label) + ε(lse − mean x)], lse = log Σ exp x
  Tensor y = for_float(logits, [&]<class T>(T) {
    const kernels::CrossEntropySums sums = kernels::cross_entropy(
        dense.data<T>(), target.data<int64_t>(), rows, n, options.label_smoothing, options.ignored, log_sums.data<T>());
    if (nll != nullptr) *nll = sums.nll;
    return Tensor::full({}, sums.loss, logits.dtype());
  });
  return record(
      "cross_entropy", y, {logits},
      [x = save(dense), target = save(target), log_sums = save(log_sums), rows, n, options](const Tensor& dy) {
        Tensor dx = Tensor::empty(x->shape(), x->dtype());  // dx = dy·(softmax x − target)
        for_float(dy, [&]<class T>(T) {
          kernels::cross_entropy_backward(static_cast<T>(dy.item()), x->data<T>(), target->data<int64_t>(),
                                          log_sums->data<T>(), rows, n, options.label_smoothing, options.ignored,
                                          dx.data<T>());
        });
        return Tensors{dx};
      });
}

Dim count_labels(const Tensor& labels, int64_t ignored) {
  const Tensor dense = dense_ids("count_labels", labels);
  const int64_t* label = dense.data<int64_t>();
  return dense.numel() - std::count(label, label + dense.numel(), ignored);
}

Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options) {
  const Dim count = count_labels(labels, options.ignored);
  return mul(cross_entropy_sum(logits, labels, options), 1.0 / static_cast<double>(std::max<Dim>(1, count)));
}

Tensor mse(const Tensor& prediction, const Tensor& target) {
  require_same_float("mse", prediction, target);
  if (!(prediction.shape() == target.shape())) {
    throw ShapeError("mse: prediction " + prediction.shape().text() + " and target " + target.shape().text());
  }
  const Tensor difference = sub(prediction, target);
  return mean(mul(difference, difference));
}

}  // namespace glass
