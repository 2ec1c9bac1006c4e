// Golden cases: what PyTorch computed, one file for each case (make_golden.py says what a file holds), and the
// comparison with ours. What differs is returned as text, so that tests can also check that a wrong number is found.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "glassformer/autograd/autograd.h"
#include "glassformer/base/error.h"
#include "glassformer/nn/module.h"
#include "glassformer/tensor/safetensors.h"

namespace glass::golden {

// Float32 on both sides, and sums of at most some hundred terms in another order: a relative difference of some
// 1e-7·√100. Gradients pass through several such sums, some of them nearly cancelling.
constexpr double forward_tolerance = 1e-5;
constexpr double gradient_tolerance = 1e-4;

inline std::filesystem::path data_folder() {
  return std::filesystem::path(GLASSFORMER_SOURCE_DIR) / "tests" / "golden" / "data";
}

// The cases there are in a folder ("nn", "models"), sorted.
inline std::vector<std::string> cases_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(data_folder() / folder)) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// One case. Remembers which tensors were asked for, so that none is skipped silently.
class Case {
 public:
  Case(const std::string& folder, const std::string& name)
      : contents_(read_safetensors((data_folder() / folder / (name + ".safetensors")).string())) {}

  const std::string& text(const std::string& key) const {
    const auto found = contents_.metadata.find(key);
    if (found == contents_.metadata.end()) throw Error("golden case: no setting \"" + key + "\"");
    return found->second;
  }
  Dim integer(const std::string& key) const { return std::stoll(text(key)); }
  double number(const std::string& key) const { return std::stod(text(key)); }

  bool has(const std::string& name) const { return contents_.tensors.count(name) != 0; }
  const Tensor& take(const std::string& name) {
    if (!has(name)) throw Error("golden case: no tensor \"" + name + "\"");
    taken_.insert(name);
    return contents_.tensors.at(name);
  }
  std::vector<std::string> names(const std::string& prefix = "") const {
    std::vector<std::string> found;
    for (const auto& [name, tensor] : contents_.tensors) {
      if (name.starts_with(prefix)) found.push_back(name);
    }
    return found;
  }
  std::vector<std::string> not_taken() const {
    std::vector<std::string> left = names();
    std::erase_if(left, [this](const std::string& name) { return taken_.count(name) != 0; });
    return left;
  }

  // For tests of the tests.
  void scale(const std::string& name, float factor) {
    Tensor& tensor = contents_.tensors.at(name);
    for (Dim i = 0; i < tensor.numel(); ++i) tensor.data<float>()[i] *= factor;
  }
  void set(const std::string& key, const std::string& value) { contents_.metadata[key] = value; }
  void remove(const std::string& name) { contents_.tensors.erase(name); }
  void insert(const std::string& name, const Tensor& tensor) { contents_.tensors[name] = tensor; }

 private:
  SafeTensors contents_;
  std::set<std::string> taken_;
};

inline double norm(const Tensor& x) {
  double square = 0;
  for (const double value : x.to_vector()) square += value * value;
  return std::sqrt(square);
}

inline double distance(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = a.to_vector(), y = b.to_vector();
  double square = 0;
  for (size_t i = 0; i < x.size(); ++i) square += (x[i] - y[i]) * (x[i] - y[i]);
  return std::sqrt(square);
}

// What was found to differ; empty if nothing was.
class Differences {
 public:
  void add(const std::string& what) { found_.push_back(what); }

  // ‖got − want‖ ≤ tolerance·‖want‖. Written so that a NaN is a difference.
  void compare(const std::string& name, const Tensor& got, const Tensor& want, double tolerance) {
    compare_within(name, got, want, tolerance * norm(want));
  }
  void compare_within(const std::string& name, const Tensor& got, const Tensor& want, double limit) {
    if (!got.defined()) return add(name + ": there is none");
    if (!(got.shape() == want.shape())) return add(name + ": " + got.shape().text() + ", not " + want.shape().text());
    const double off = distance(got, want);
    if (!(off <= limit)) add(name + ": off by " + std::to_string(off / norm(want)) + " of its norm");
  }
  // What nobody compared.
  void add_not_taken(const Case& golden) {
    for (const std::string& name : golden.not_taken()) add(name + ": in the file, but not in the module");
  }

  bool empty() const { return found_.empty(); }
  std::string text() const {
    std::string all;
    for (const std::string& one : found_) all += "\n  " + one;
    return all;
  }

 private:
  std::vector<std::string> found_;
};

// The parameters of a module, a tied one once, under its first name.
inline std::vector<NamedParameter> distinct_parameters(const Module& module) {
  std::vector<NamedParameter> distinct;
  std::set<const void*> seen;
  for (const NamedParameter& parameter : module.named_parameters()) {
    if (seen.insert(parameter.tensor.id()).second) distinct.push_back(parameter);
  }
  return distinct;
}

inline void load_parameters(Case& golden, const Module& module) {
  for (NamedParameter& parameter : distinct_parameters(module)) {
    const Tensor& values = golden.take("parameter." + parameter.name);
    if (!(values.shape() == parameter.tensor.shape())) {
      throw ShapeError("golden case: " + parameter.name + " is " + values.shape().text() + ", the module's " +
                       parameter.tensor.shape().text());
    }
    parameter.tensor.copy_from(values);
  }
}

// A key's bias adds the same to all scores of a query, which the softmax takes out again: its true gradient is zero.
inline bool has_no_gradient(const std::string& name) { return name == "key.bias" || name.ends_with(".key.bias"); }

// The gradient of each parameter. Where it is truly zero, what is left is rounding: small against the gradient of the
// weight beside it.
inline void compare_gradients(Case& golden, const Module& module, Differences& differences) {
  for (const NamedParameter& parameter : distinct_parameters(module)) {
    const std::string name = "grad." + parameter.name;
    const Tensor grad = parameter.tensor.grad();
    const Tensor& want = golden.take(name);
    if (!has_no_gradient(parameter.name)) {
      differences.compare(name, grad, want, gradient_tolerance);
      continue;
    }
    const std::string weight = name.substr(0, name.size() - std::string("bias").size()) + "weight";
    differences.compare_within(name, grad, want, gradient_tolerance * norm(golden.take(weight)));
  }
}

// An input; a floating one as a leaf, so that it gets a gradient.
inline Tensor input(Case& golden, const std::string& name) {
  Tensor leaf = golden.take("input." + name).clone();
  if (is_floating(leaf.dtype())) leaf.set_requires_grad(true);
  return leaf;
}

inline void compare_input_gradient(Case& golden, const std::string& name, const Tensor& leaf,
                                   Differences& differences) {
  if (!is_floating(leaf.dtype())) return;
  differences.compare("input_grad." + name, leaf.grad(), golden.take("input_grad." + name), gradient_tolerance);
}

}  // namespace glass::golden
