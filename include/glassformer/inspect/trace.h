// What the taps of one computation gave, by path.
//
//     const Trace trace = Trace::record([&] { model(source, lengths, target); });
//     trace.at("decoder.layers.0.cross_attn.weights");             // [B,H,T,S]
//     for (const std::string& path : trace.matching("*.scores")) …
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "glassformer/inspect/statistics.h"
#include "glassformer/tensor/tensor.h"

namespace glass {

class Module;

// Whether `path` is what the pattern stands for: * is any characters, dots too, and ? one character.
bool path_matches(std::string_view pattern, std::string_view path);

struct TraceOptions {
  std::vector<std::string> patterns{"*"};   // what matches none of these is passed over
  std::vector<std::string> left_out = {};   // so is what matches one of these
  std::vector<std::string> summed_up = {};  // what matches one of these leaves statistics only, as if !keep_values
  // Otherwise only running statistics stay, one entry a path, so that a long run takes no more memory than a short one.
  bool keep_values = true;
  // Also the output of each operation, as "encoder.layers.0.self_attn.query.linear", in order with the taps. While
  // somebody listens, attention makes its scores on the side: those operations are among them.
  bool operations = false;
  // Asks backward() passes inside the computation to keep dL/d(value) of each tap.
  bool gradients = false;
};

enum class TraceSource { tap, operation, parameter };

enum class GradientState {
  not_asked,      // and never of an operation's output
  kept,           // in TraceEntry::gradient, or its running statistics
  outside_graph,  // a constant, or made for the listener alone, as the scores and weights of fused attention are
  not_reached,    // part of a graph, but no backward() of the computation came by
};

// What is said of a tensor, or of all that came under one path.
struct TensorSummary {
  Shape shape;  // of the latest
  DType dtype = DType::f32;
  int64_t tensors = 0;  // how many
  Statistics numbers;
  void add(const Tensor& tensor);
};

struct TraceEntry {
  std::string path;  // "decoder.layers.3.cross_attn.scores"
  Tensor value;      // shared with the computation, not copied; undefined if only statistics are kept
  TraceSource source = TraceSource::tap;
  Tensor gradient;  // dL/d(value), shared too; undefined unless `gradient_state` is kept and values are
  GradientState gradient_state = GradientState::not_asked;
  TensorSummary running, running_gradient;  // if only statistics are kept

  TensorSummary summary() const;
  TensorSummary gradient_summary() const;  // of no tensors if there is none
};

// Belongs to one thread at a time; copies share the tensors.
class Trace {
 public:
  explicit Trace(TraceOptions options = {}) : options_(std::move(options)) {}

  // Runs `computation` on this thread and keeps everything that is tapped meanwhile: its results are bit for bit those
  // it has without. A path tapped again is kept again.
  static Trace record(const std::function<void()>& computation, TraceOptions options = {});
  // The same for a further computation: more entries, or more behind the same statistics.
  void extend(const std::function<void()>& computation);
  // Adds the module's parameters, a tied one once, under its first name, with the gradients they hold now; those that
  // hold none count as not reached.
  void add_parameters(const Module& module);

  const TraceOptions& options() const { return options_; }
  const std::vector<TraceEntry>& entries() const { return entries_; }  // in the order of the taps
  bool has(const std::string& path) const;
  // The first one of this path. Throws InputError naming the paths nearest to it if there is none, or if only its
  // statistics were kept.
  const Tensor& at(const std::string& path) const;
  const TraceEntry& entry(const std::string& path) const;
  // The paths that a pattern stands for (path_matches), in order.
  std::vector<std::string> matching(const std::string& pattern) const;

 private:
  // What was seen in the computation that runs, and is asked for its gradient afterwards.
  struct Awaited {
    size_t entry;
    Tensor value;
  };

  bool is_wanted(const std::string& path) const;
  bool keeps_values_of(const std::string& path) const;
  size_t place_of(const std::string& path, TraceSource source);
  size_t take(const std::string& path, const Tensor& value, TraceSource source);
  void take_gradient(TraceEntry& entry, const Tensor& gradient);

  TraceOptions options_;
  std::vector<TraceEntry> entries_;
  std::unordered_map<std::string, size_t> first_;  // of each path
};

}  // namespace glass
