#include "glassformer/autograd/tap.h"

namespace glass {

namespace detail {

thread_local const TapListener* tap_listener = nullptr;

void notify_tap(const char* name, const Tensor& value) { (*tap_listener)(scope_path(name), value); }

}  // namespace detail

ListenToTaps::ListenToTaps(TapListener listener) : listener_(std::move(listener)), outer_(detail::tap_listener) {
  detail::tap_listener = &listener_;
}
ListenToTaps::~ListenToTaps() { detail::tap_listener = outer_; }

}  // namespace glass
