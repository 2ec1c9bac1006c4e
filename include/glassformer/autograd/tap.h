// Taps: values worth seeing, by path. A module says tap("scores", scores); whoever listens on this thread gets
// "decoder.layers.3.cross_attn.scores" and the tensor. Without a listener a tap is one predictable branch.
#pragma once

#include <functional>
#include <string>

#include "glassformer/base/scope.h"
#include "glassformer/tensor/tensor.h"

namespace glass {

// Must not change the tensor; may keep the handle, and may call retain_grad() on it. Runs on the thread that computes.
using TapListener = std::function<void(const std::string& path, const Tensor& value)>;

namespace detail {
extern thread_local const TapListener* tap_listener;
void notify_tap(const char* name, const Tensor& value);
}  // namespace detail

// Whether anybody listens on this thread: for what a fused operation never forms, and makes for a listener only.
inline bool listening_to_taps() { return detail::tap_listener != nullptr; }

// Returns the value, so that it can stand inside an expression.
inline const Tensor& tap(const char* name, const Tensor& value) {
  if (detail::tap_listener != nullptr) [[unlikely]]
    detail::notify_tap(name, value);
  return value;
}

// Listens on the calling thread for its lifetime; an outer listener is silent meanwhile.
class ListenToTaps {
 public:
  explicit ListenToTaps(TapListener listener);
  ~ListenToTaps();
  ListenToTaps(const ListenToTaps&) = delete;
  ListenToTaps& operator=(const ListenToTaps&) = delete;

 private:
  TapListener listener_;
  const TapListener* outer_;
};

}  // namespace glass
