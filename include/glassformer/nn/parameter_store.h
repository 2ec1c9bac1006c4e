// All parameters of a model in one flat buffer, each a named view; their gradients in another of the same layout. So
// the optimiser is one loop, the norm one reduction, and a checkpoint one write.
#pragma once

#include <string>
#include <vector>

#include "glassformer/nn/module.h"

namespace glass {

class ParameterStore {
 public:
  struct Entry {
    std::vector<std::string> names;  // more than one if tied; the first is the one it is stored under
    Tensor tensor;                   // a view of values()
    Dim offset = 0;                  // in elements
    Initial initial;
  };

  // Moves the module's parameters into a new buffer, makes them leaves that need gradients, and gives each its part of
  // the gradient buffer. The module must outlive nothing: the store shares ownership of the memory.
  explicit ParameterStore(Module& module);

  const std::vector<Entry>& entries() const { return entries_; }
  // N is count() and a little more: each parameter begins at a multiple of 16, and what lies between them is 0.
  const Tensor& values() const { return values_; }  // [N] float32
  const Tensor& grads() const { return grads_; }    // [N] float32
  Dim size() const { return values_.numel(); }      // N
  Dim count() const;                                // of the parameters' elements, tied ones once
  void zero_grads();

 private:
  std::vector<Entry> entries_;
  Tensor values_, grads_;
};

}  // namespace glass
