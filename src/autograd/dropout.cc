#include "kernels/dropout.h"

#include "autograd/kept.h"
#include "glassformer/base/random.h"
#include "glassformer/base/scope.h"

namespace glass {

DropoutKey dropout_key(int stream) {
  const RandomContext* context = RandomScope::current();
  if (context == nullptr) {
    throw Error("dropout: no random context; make a RandomScope around the forward pass, or use evaluation mode");
  }
  const uint64_t of_step = hash_combine(context->seed, context->step);
  return {hash_combine(of_step, hash_combine(scope_hash(), static_cast<uint64_t>(stream))), context->first_example,
          context->packed_rows};
}

namespace {

// [B,D], [B,T,D] and [B,H,T,S] as example and three indices, the last always last.
kernels::DropoutPlace dropout_place(const Tensor& x, int stream) {
  if (x.rank() < 2 || x.rank() > 4) {
    throw ShapeError("dropout: takes two to four axes, the first the example, got " + x.shape().text());
  }
  const DropoutKey key = dropout_key(stream);
  kernels::DropoutPlace place;
  place.key = key.key;
  place.first_example = key.first_example;
  if (key.packed_rows) {
    if (x.rank() != 3 || x.size(0) != 1) {
      throw ShapeError("dropout: of packed sequences only their rows [1,N,D] can be dropped, got " + x.shape().text());
    }
    place.packed_rows = key.packed_rows;
  }
  place.extents[0] = x.size(0);
  for (int axis = 1; axis < x.rank(); ++axis) place.extents[4 - x.rank() + axis] = x.size(axis);
  return place;
}

}  // namespace

Tensor dropout(const Tensor& x, double rate, int stream) {
  require_float("dropout", x);
  if (!(rate >= 0 && rate < 1)) throw ValueError("dropout: the rate is in [0,1), got " + std::to_string(rate));
  if (rate == 0) return x;
  const kernels::DropoutPlace place = dropout_place(x, stream);
  const Tensor dense = x.contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype());  // y = kept ? x/(1−rate) : 0
  Kept kept = needs_grad({x}) ? Kept(x.shape()) : Kept();
  for_float(x, [&]<class T>(T) { kernels::dropout(dense.data<T>(), place, rate, y.data<T>(), kept.bits()); });
  return record("dropout", y, {x}, [kept, rate](const Tensor& dy) { return Tensors{kept.where(dy, 1 / (1 - rate))}; });
}

}  // namespace glass
