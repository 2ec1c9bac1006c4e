// What the taps of one computation gave, by path.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "glassformer/tensor/tensor.h"

namespace glass {

struct TraceEntry {
  std::string path;  // "decoder.layers.3.cross_attn.scores"
  Tensor value;      // shared with the computation, not copied
};

// Belongs to one thread at a time; copies share the tensors.
class Trace {
 public:
  // Runs `computation` on this thread and keeps everything that is tapped meanwhile: its results are bit for bit those
  // it has without. A path tapped again is kept again.
  static Trace record(const std::function<void()>& computation);

  const std::vector<TraceEntry>& entries() const { return entries_; }  // in the order of the taps
  bool has(const std::string& path) const;
  // The first one of this path. Throws InputError naming the paths nearest to it if there is none.
  const Tensor& at(const std::string& path) const;
  // The paths that a pattern with * (anything, dots too) and ? (one character) stands for, in order.
  std::vector<std::string> matching(const std::string& pattern) const;

 private:
  std::vector<TraceEntry> entries_;
};

}  // namespace glass
