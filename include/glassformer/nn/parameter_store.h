// All parameters of a model in one flat buffer, each a named view, so that a checkpoint is one write. Their gradients
// are tensors of their own, there from the backward pass until they are cleared, in memory that the forward pass had.
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

  // Moves the module's parameters into a new buffer and makes them leaves that need gradients. The module must outlive
  // nothing: the store shares ownership of the memory.
  explicit ParameterStore(Module& module);

  const std::vector<Entry>& entries() const { return entries_; }
  // N is count() and a little more: each parameter begins at a multiple of 16, and what lies between them is 0.
  const Tensor& values() const { return values_; }  // [N] float32
  Dim size() const { return values_.numel(); }      // N
  Dim count() const;                                // of the parameters' elements, tied ones once
  // Of an entry, of its tensor's shape, float32; zeros, which nobody else sees, if none has been
  // added since the last zero_grads(). That drops the tensors: who holds one keeps its old numbers.
  static Tensor gradient(const Entry& entry);
  void zero_grads();

 private:
  std::vector<Entry> entries_;
  Tensor values_;
};

}  // namespace glass
