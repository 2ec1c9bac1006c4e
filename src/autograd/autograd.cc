#include "glassformer/autograd/autograd.h"

#include <unordered_map>
#include <unordered_set>

#include "autograd/op_support.h"
#include "glassformer/base/scope.h"
#include "glassformer/tensor/grad_state.h"
#include "kernels/elementwise.h"

namespace glass {

// One executed operation. Of its inputs it holds the gradient state only: their values are kept by whoever needs them,
// and what the derivative needs is in `backward`.
struct Node {
  struct Input {
    std::shared_ptr<GradState> state;  // null if the input is not part of a graph
    Shape shape;
  };
  const char* operation = "";
  std::string scope;
  std::vector<Input> inputs;
  Backward backward;
  bool released = false;

  // A long chain of operations would otherwise be destroyed by recursion as deep as the chain.
  ~Node();
};

namespace {

thread_local bool building_graph = true;
thread_local const OutputObserver* output_observer = nullptr;
thread_local std::vector<std::shared_ptr<GradState>>* dying_states = nullptr;

bool in_graph(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.grad_state()) return false;
  return tensor.grad_state()->requires_grad || tensor.grad_state()->node != nullptr;
}

}  // namespace

// The first node to die on this thread drops the states that the others hand over, one after another.
Node::~Node() {
  std::vector<std::shared_ptr<GradState>> own;
  const bool outermost = dying_states == nullptr;
  if (outermost) dying_states = &own;
  for (Input& input : inputs) {
    if (input.state && input.state->node) dying_states->push_back(std::move(input.state));
  }
  if (!outermost) return;
  while (!own.empty()) {
    const std::shared_ptr<GradState> next = std::move(own.back());
    own.pop_back();
  }
  dying_states = nullptr;
}

Saved::Saved(const Tensor& tensor) {
  if (!tensor.defined()) return;
  tensor_ = tensor.detach();
  version_ = tensor.version();
}

const Tensor& Saved::operator*() const {
  if (tensor_.defined() && tensor_.version() != version_) {
    throw GradError("a tensor of shape " + tensor_.shape().text() +
                    " that the backward pass needs was changed in place after it was used; change a copy (clone())");
  }
  return tensor_;
}

bool needs_grad(std::initializer_list<Tensor> inputs) {
  if (!building_graph) return false;
  for (const Tensor& input : inputs) {
    if (in_graph(input)) return true;
  }
  return false;
}

bool needs_grad(const Tensors& inputs) {
  if (!building_graph) return false;
  for (const Tensor& input : inputs) {
    if (in_graph(input)) return true;
  }
  return false;
}

Tensor record(const char* operation, Tensor output, const Tensors& inputs, Backward backward) {
  if (output_observer != nullptr) (*output_observer)(operation, output, inputs);
  if (!needs_grad(inputs)) return output;
  auto node = std::make_shared<Node>();
  node->operation = operation;
  node->scope = scope_path();
  node->inputs.reserve(inputs.size());
  for (const Tensor& input : inputs) {
    // An operation that gives an input back would take that tensor's place in the graph from it.
    if (output.same_as(input)) output = output.detach();
    const bool counts = in_graph(input);
    node->inputs.push_back({counts ? input.grad_state() : nullptr, counts ? input.shape() : Shape()});
  }
  node->backward = std::move(backward);
  auto state = std::make_shared<GradState>();
  state->node = std::move(node);
  output.set_grad_state(std::move(state));
  return output;
}

Tensor record_not_differentiable(const char* operation, Tensor output, const Tensors& inputs) {
  if (needs_grad(inputs)) {
    throw GradError(std::string(operation) + ": it has no derivative, and its input needs one; use NoGrad or detach()");
  }
  if (output_observer != nullptr) (*output_observer)(operation, output, inputs);
  return output;
}

namespace {

// Nodes such that each stands before all nodes it feeds on: the order of the backward pass.
std::vector<Node*> backward_order(Node* root) {
  std::vector<Node*> finished;
  std::unordered_set<Node*> seen{root};
  std::vector<std::pair<Node*, size_t>> path{{root, 0}};
  while (!path.empty()) {
    auto& [node, next] = path.back();
    if (next == node->inputs.size()) {
      finished.push_back(node);
      path.pop_back();
      continue;
    }
    const GradState* state = node->inputs[next++].state.get();
    if (state != nullptr && state->node && seen.insert(state->node.get()).second)
      path.emplace_back(state->node.get(), 0);
  }
  return {finished.rbegin(), finished.rend()};
}

void add_in_place(Tensor& sum, const Tensor& grad) {
  if (!sum.is_contiguous() || sum.dtype() != grad.dtype() || sum.dtype() == DType::bf16) {
    sum.copy_from(add(sum.to(DType::f64), grad.to(DType::f64)));
    return;
  }
  const Tensor dense = grad.contiguous();
  for_float(sum, [&]<class T>(T) { kernels::accumulate(dense.data<T>(), dense.numel(), T{1}, sum.data<T>()); });
  sum.mark_changed();
}

// Adds to a leaf's buffer, or to an intermediate result's if it was asked to keep it.
void keep(GradState& state, const Tensor& grad) {
  if (!state.grad.defined()) {
    state.grad = grad.clone();
  } else {
    add_in_place(state.grad, grad);
  }
}

// Gradients that flow to each node's output, and whether we own the buffer and may add to it.
class Pending {
 public:
  void add(Node* node, const Tensor& grad) {
    auto [entry, first] = grads_.try_emplace(node);
    if (first) {
      entry->second = {grad, false};
    } else {
      if (!entry->second.owned) entry->second = {entry->second.grad.clone(), true};
      add_in_place(entry->second.grad, grad);
    }
  }
  Tensor take(Node* node) {
    const auto entry = grads_.find(node);
    if (entry == grads_.end()) return {};
    Tensor grad = std::move(entry->second.grad);
    grads_.erase(entry);
    return grad;
  }

 private:
  struct Entry {
    Tensor grad;
    bool owned = false;
  };
  std::unordered_map<Node*, Entry> grads_;
};

std::string place_of(const Node& node) {
  return std::string(node.operation) + (node.scope.empty() ? "" : " (in " + node.scope + ")");
}

void check_grads(const Node& node, const Tensors& grads) {
  if (grads.size() != node.inputs.size()) {
    throw GradError("it gave " + std::to_string(grads.size()) + " gradients for " + std::to_string(node.inputs.size()) +
                    " inputs");
  }
  for (size_t i = 0; i < grads.size(); ++i) {
    const Node::Input& input = node.inputs[i];
    if (!input.state || !grads[i].defined() || grads[i].shape() == input.shape) continue;
    throw ShapeError("it gave a gradient of shape " + grads[i].shape().text() + " for an input of shape " +
                     input.shape.text());
  }
}

Tensors input_grads(const Node& node, const Tensor& grad) {
  if (node.released) {
    throw GradError("backward: the graph through " + place_of(node) +
                    " was already used and freed by an earlier backward; run the forward pass again");
  }
  const auto text = [&](const Error& error) { return "backward of " + place_of(node) + ": " + error.what(); };
  try {
    Tensors grads = node.backward(grad);
    check_grads(node, grads);
    return grads;
  } catch (const GradError& error) {
    throw GradError(text(error));
  } catch (const ShapeError& error) {
    throw ShapeError(text(error));
  } catch (const Error& error) {
    throw Error(text(error));
  }
}

void flow(const Node::Input& input, const Tensor& grad, Pending& pending) {
  if (!grad.defined() || !input.state) return;
  GradState& state = *input.state;
  if (state.requires_grad || state.retain) keep(state, grad);
  if (state.node) pending.add(state.node.get(), grad);
}

}  // namespace

void backward(const Tensor& root, const Tensor& grad) {
  if (!in_graph(root)) throw GradError("backward: the result depends on nothing that needs a gradient");
  if (!(grad.shape() == root.shape())) {
    throw ShapeError("backward: a gradient of shape " + grad.shape().text() + " for a result of shape " +
                     root.shape().text());
  }
  const NoGrad no_graph;
  const ObserveOutputs no_observer(nullptr);  // those watch the forward pass
  Pending pending;
  flow({root.grad_state(), root.shape()}, grad, pending);
  const std::shared_ptr<Node> alive = root.grad_state()->node;
  if (!alive) return;
  for (Node* node : backward_order(alive.get())) {
    const Tensor output_grad = pending.take(node);
    if (!output_grad.defined()) continue;
    const Tensors grads = input_grads(*node, output_grad);
    for (size_t i = 0; i < node->inputs.size(); ++i) flow(node->inputs[i], grads[i], pending);
    node->backward = nullptr;  // what was saved is free for the passes below
    node->released = true;
  }
}

void backward(const Tensor& loss) {
  if (loss.numel() != 1) {
    throw ShapeError("backward: a loss has one element, this has shape " + loss.shape().text() +
                     "; sum it or give its gradient");
  }
  backward(loss, Tensor::full(loss.shape(), 1.0, loss.dtype()));
}

void retain_grad(const Tensor& tensor) {
  if (!in_graph(tensor)) throw GradError("retain_grad: the tensor is not part of a gradient graph");
  tensor.grad_state()->retain = true;
}

NoGrad::NoGrad() : outer_(building_graph) { building_graph = false; }
NoGrad::~NoGrad() { building_graph = outer_; }
bool grad_enabled() { return building_graph; }

ObserveOutputs::ObserveOutputs(OutputObserver observer) : observer_(std::move(observer)), outer_(output_observer) {
  output_observer = observer_ ? &observer_ : nullptr;
}
ObserveOutputs::~ObserveOutputs() { output_observer = outer_; }

}  // namespace glass
