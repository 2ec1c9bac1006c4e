#include "inspect/gradients.h"

#include "glassformer/autograd/ops.h"
#include "inspect/measure.h"

namespace glass {

GradientsApart::GradientsApart(const Module& module) : parameters_(measure::distinct_parameters(module)) {
  for (NamedParameter& parameter : parameters_) {
    before_.push_back(parameter.tensor.grad());
    parameter.tensor.set_grad(Tensor::zeros(parameter.tensor.shape(), parameter.tensor.dtype()));
  }
}

GradientsApart::~GradientsApart() {
  for (size_t i = 0; i < parameters_.size(); ++i) parameters_[i].tensor.set_grad(before_[i]);
}

Tensor probe_loss(const Probe& probe, const ProbeBatch& batch) {
  const Tensor logits = probe.logits(batch);
  if (probe.target_vocabulary == 0) return mean(logits * logits);
  return cross_entropy(logits, batch.labels, {0, pad_token});
}

}  // namespace glass
