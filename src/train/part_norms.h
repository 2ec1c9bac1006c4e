// What one update does, by part of the model: norms of gradients and of the change of the weights.
#pragma once

#include <string>
#include <vector>

#include "glassformer/nn/parameter_store.h"
#include "glassformer/train/trainer.h"

namespace glass {

// The part a parameter belongs to: its layer ("encoder.layers.0"), or else the module that owns it ("output").
std::string part_of(const std::string& parameter);

// Made before an update, asked after it. Holds a copy of the weights; at that time the graph of the loss, which takes
// more, is gone.
class PartNorms {
 public:
  explicit PartNorms(const ParameterStore& parameters);
  // In the order of the parameters. `grad_scale` is what the gradients in the store are multiplied by to be those of
  // the mean loss.
  std::vector<PartMetrics> after_update(double grad_scale) const;

 private:
  const ParameterStore& parameters_;
  Tensor before_;  // [N]
};

}  // namespace glass
