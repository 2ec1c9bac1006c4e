// Module: a named node in the tree that a model is. Children are members constructed with their parent and their name:
//
//     class FeedForward : public ModuleOf<FeedForward> {
//      public:
//       FeedForward(Module* parent, std::string name, Dim d_model, Dim d_ff);
//       Tensor forward(const Tensor& x) const;   // [B,T,D] -> [B,T,D]
//       Linear inner{this, "inner", d_model, d_ff};
//     };
//
// Calling a module pushes its name on the scope stack, so errors, taps and random streams know where they are.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "glassformer/base/scope.h"
#include "glassformer/nn/init.h"
#include "glassformer/tensor/tensor.h"

namespace glass {

struct NamedParameter {
  std::string name;  // path from the module asked, "layers.0.self_attn.query.weight"
  Tensor tensor;
  Initial initial;
};

// Not copyable or movable: children hold a pointer to their parent. Building and training want one thread; forward
// passes of one module from several threads are safe while nobody changes its parameters or mode.
class Module {
 public:
  // `parent` may be nullptr, for a root; otherwise it must outlive this module (it does if this is its member).
  Module(Module* parent, std::string name);
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const std::string& name() const { return name_; }
  std::string path() const;  // from the root, without the root's own name
  const std::vector<Module*>& children() const { return children_; }
  // The class, for tables: "Linear", "MultiHeadAttention".
  virtual const char* kind() const { return "Module"; }

  // This module's own parameters, in order of declaration.
  const std::vector<NamedParameter>& own_parameters() const { return parameters_; }
  // Those of the whole subtree, depth first, with names relative to this module. A tied tensor appears once for each of
  // its names.
  std::vector<NamedParameter> named_parameters() const;

  // Training mode switches dropout on, in the whole subtree. Fresh modules are in evaluation mode.
  void train(bool on = true);
  bool is_training() const { return training_; }

 protected:
  // A new float32 parameter, initialised from its path with seed 0 (see initialize() for another seed).
  Tensor parameter(const std::string& name, const Shape& shape, Initial initial);
  // Another name for a tensor that is a parameter elsewhere.
  void tie(const std::string& name, const Tensor& tensor);

 private:
  void collect(const std::string& prefix, std::vector<NamedParameter>& into) const;

  std::string name_;
  Module* parent_;
  std::vector<Module*> children_;
  std::vector<NamedParameter> parameters_;
  bool training_ = false;
};

// Gives a module class its call operator: scope, then forward().
template <class Self>
class ModuleOf : public Module {
 public:
  using Module::Module;
  template <class... Args>
  decltype(auto) operator()(Args&&... args) const {
    const Scope scope(name());
    return static_cast<const Self*>(this)->forward(std::forward<Args>(args)...);
  }
};

// Children named "0", "1", … Calling it is the owner's business: it has no forward of its own.
template <class Child>
class ModuleList : public Module {
 public:
  using Module::Module;
  template <class... Args>
  Child& emplace_back(Args&&... args) {
    return items_.emplace_back(this, std::to_string(items_.size()), std::forward<Args>(args)...);
  }
  size_t size() const { return items_.size(); }
  const Child& operator[](size_t i) const { return items_[i]; }
  Child& operator[](size_t i) { return items_[i]; }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  const char* kind() const override { return "ModuleList"; }

 private:
  std::deque<Child> items_;  // a deque never moves its elements
};

}  // namespace glass
