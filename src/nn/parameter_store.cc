#include "glassformer/nn/parameter_store.h"

#include <unordered_map>

namespace glass {

namespace {

// Each parameter begins at a cache line, so that vector loads do not straddle two.
constexpr Dim alignment = 16;

Dim padded(Dim count) { return (count + alignment - 1) / alignment * alignment; }

}  // namespace

ParameterStore::ParameterStore(Module& module) {
  std::unordered_map<const void*, size_t> known;
  Dim total = 0;
  for (const NamedParameter& parameter : module.named_parameters()) {
    const auto [place, is_new] = known.try_emplace(parameter.tensor.id(), entries_.size());
    if (!is_new) {
      entries_[place->second].names.push_back(parameter.name);
      continue;
    }
    entries_.push_back({{parameter.name}, parameter.tensor, total, parameter.initial});
    total += padded(parameter.tensor.numel());
  }
  values_ = Tensor::zeros({total});
  for (Entry& entry : entries_) {
    entry.tensor.rehome(values_, entry.offset);
    entry.tensor.set_requires_grad(true);
  }
}

Dim ParameterStore::count() const {
  Dim total = 0;
  for (const Entry& entry : entries_) total += entry.tensor.numel();
  return total;
}

Tensor ParameterStore::gradient(const Entry& entry) {
  const Tensor grad = entry.tensor.grad();
  return grad.defined() ? grad : Tensor::zeros(entry.tensor.shape());
}

void ParameterStore::zero_grads() {
  for (Entry& entry : entries_) entry.tensor.set_grad({});
}

}  // namespace glass
