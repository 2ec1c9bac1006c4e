// A model's gradients as one tensor.
#pragma once

#include "glassformer/autograd/ops.h"
#include "glassformer/nn/parameter_store.h"

namespace glass::test {

// [N], of the entries one after another.
inline Tensor all_gradients(const ParameterStore& store) {
  Tensors parts;
  for (const ParameterStore::Entry& entry : store.entries()) {
    parts.push_back(reshape(ParameterStore::gradient(entry).detach(), {entry.tensor.numel()}));
  }
  return concat(parts, 0);
}

}  // namespace glass::test
