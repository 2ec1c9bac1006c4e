#include "glassformer/nn/module.h"

namespace glass {

Module::Module(Module* parent, std::string name) : name_(std::move(name)), parent_(parent) {
  if (parent_ != nullptr) parent_->children_.push_back(this);
}

std::string Module::path() const {
  if (parent_ == nullptr) return {};
  const std::string above = parent_->path();
  return above.empty() ? name_ : above + "." + name_;
}

void Module::collect(const std::string& prefix, std::vector<NamedParameter>& into) const {
  for (const NamedParameter& own : parameters_) into.push_back({prefix + own.name, own.tensor, own.initial});
  for (const Module* child : children_) child->collect(prefix + child->name_ + ".", into);
}

std::vector<NamedParameter> Module::named_parameters() const {
  std::vector<NamedParameter> all;
  collect("", all);
  return all;
}

void Module::train(bool on) {
  training_ = on;
  for (Module* child : children_) child->train(on);
}

Tensor Module::parameter(const std::string& name, const Shape& shape, Initial initial) {
  Tensor tensor = Tensor::empty(shape);
  const std::string above = path();
  initialize_parameter(tensor, initial, {}, 0, above.empty() ? name : above + "." + name);
  tensor.set_requires_grad(true);
  parameters_.push_back({name, tensor, initial});
  return tensor;
}

void Module::tie(const std::string& name, const Tensor& tensor) {
  parameters_.push_back({name, tensor, Initial::matrix});
}

}  // namespace glass
