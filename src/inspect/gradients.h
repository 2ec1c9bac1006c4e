// Backward passes that leave no trace.
#pragma once

#include <vector>

#include "glassformer/inspect/probe.h"
#include "glassformer/nn/module.h"

namespace glass {

// While it lives, the module's parameters accumulate into buffers of their own, zero at first; then they have again
// what they had.
class GradientsApart {
 public:
  explicit GradientsApart(const Module& module);
  ~GradientsApart();
  GradientsApart(const GradientsApart&) = delete;
  GradientsApart& operator=(const GradientsApart&) = delete;
  const std::vector<NamedParameter>& parameters() const { return parameters_; }

 private:
  std::vector<NamedParameter> parameters_;
  std::vector<Tensor> before_;
};

// The loss that the checks differentiate: cross-entropy of the labels, or for numbers the mean square of the outputs.
// Scalar, part of a graph.
Tensor probe_loss(const Probe& probe, const ProbeBatch& batch);

}  // namespace glass
