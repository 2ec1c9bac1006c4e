// What differentiation knows of a tensor, apart from its values: handles on the tensor share it with the nodes that
// read the tensor, so it may outlive the tensor. What a node is, autograd/ knows; this layer only carries it.
#pragma once

#include <memory>

#include "glassformer/tensor/tensor.h"

namespace glass {

struct Node;  // an operation that produced a tensor (autograd/autograd.cc)

struct GradState {
  bool requires_grad = false;  // a leaf whose gradient is wanted
  bool retain = false;         // an intermediate result whose gradient is wanted
  Tensor grad;                 // of either, accumulated here; undefined until one comes or set_grad() gives a buffer
  std::shared_ptr<Node> node;  // what computed the tensor, and so the graph behind it; null for a leaf
};

}  // namespace glass
