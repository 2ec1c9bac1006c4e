#include "glassformer/nn/init.h"

#include <cmath>
#include <unordered_set>

#include "glassformer/base/random.h"
#include "glassformer/nn/module.h"

namespace glass {

namespace {

double uniform_bound(InitScheme scheme, const Shape& shape) {
  const auto out = static_cast<double>(shape[0]), in = static_cast<double>(shape[-1]);
  return scheme == InitScheme::xavier ? std::sqrt(6 / (in + out)) : std::sqrt(6 / in);
}

thread_local bool uninitialized = false;

void fill_uniform(Tensor& parameter, Random random, float bound) {
  float* values = parameter.data<float>();
  for (Dim i = 0; i < parameter.numel(); ++i) values[i] = random.uniform(-bound, bound);
}

void fill_normal(Tensor& parameter, Random random, float deviation) {
  float* values = parameter.data<float>();
  for (Dim i = 0; i < parameter.numel(); ++i) values[i] = deviation * random.normal();
}

}  // namespace

void initialize_parameter(Tensor& parameter, Initial initial, const InitOptions& options, uint64_t seed,
                          const std::string& path) {
  if (uninitialized) return;
  const Random random(hash_combine(seed, hash_text(path)));
  const Shape& shape = parameter.shape();
  if (initial == Initial::embedding && options.embeddings == EmbeddingInit::matrix) initial = Initial::matrix;
  switch (initial) {
    case Initial::zeros:
      parameter.fill(0);
      break;
    case Initial::ones:
      parameter.fill(1);
      break;
    case Initial::matrix:
      fill_uniform(parameter, random, static_cast<float>(uniform_bound(options.matrices, shape)));
      break;
    case Initial::third:
      fill_uniform(parameter, random, static_cast<float>(uniform_bound(options.matrices, {3 * shape[0], shape[1]})));
      break;
    case Initial::embedding:
      fill_normal(parameter, random, static_cast<float>(1 / std::sqrt(static_cast<double>(shape[-1]))));
      break;
  }
  parameter.mark_changed();
}

LeaveUninitialized::LeaveUninitialized() : outer_(uninitialized) { uninitialized = true; }
LeaveUninitialized::~LeaveUninitialized() { uninitialized = outer_; }

void initialize(Module& module, const InitOptions& options, uint64_t seed) {
  std::unordered_set<const void*> done;
  for (NamedParameter& parameter : module.named_parameters()) {
    if (!done.insert(parameter.tensor.id()).second) continue;
    initialize_parameter(parameter.tensor, parameter.initial, options, seed, parameter.name);
  }
}

}  // namespace glass
