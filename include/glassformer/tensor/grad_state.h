// What differentiation knows of a tensor. The graph's nodes belong to autograd/; this layer only carries them.
#pragma once

#include <memory>

#include "glassformer/tensor/tensor.h"

namespace glass {

struct Node;  // an operation that produced a tensor (autograd/autograd.cc)

struct GradState {
  bool requires_grad = false;   // a leaf whose gradient is wanted
  bool retain = false;          // an intermediate result whose gradient is wanted
  Tensor grad;                  // accumulated here
  std::shared_ptr<Node> node;   // what computed the tensor; null for a leaf
};

}  // namespace glass
