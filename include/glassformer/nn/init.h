// Initial values of parameters.
#pragma once

#include <cstdint>
#include <string>

#include "glassformer/tensor/tensor.h"

namespace glass {

class Module;

// What a parameter is, as far as its initial values go.
enum class Initial {
  matrix,     // [out, in], by the scheme
  third,      // [out, in], by the scheme as one of three parts of a packed [3·out, in]
  embedding,  // [V, D], one row a token or a position
  zeros,      // biases, a norm's shift
  ones,       // a norm's gain
};

enum class InitScheme {
  xavier,   // uniform in ±√(6/(in+out)) (Glorot & Bengio, 2010)
  kaiming,  // uniform in ±√(6/in) (He et al., 2015)
};

enum class EmbeddingInit {
  normal,  // of deviation 1/√D: tokens, multiplied by √D, come out as wide as a norm makes them
  matrix,  // as matrices: some times narrower, so that the same steps of the optimiser move them further
};

struct InitOptions {
  InitScheme matrices = InitScheme::xavier;
  EmbeddingInit embeddings = EmbeddingInit::normal;
};

// Fills `parameter` from a random stream keyed by (seed, path): parameters of different paths never start equal, and a
// parameter's values do not depend on which others exist.
void initialize_parameter(Tensor& parameter, Initial initial, const InitOptions& options, uint64_t seed,
                          const std::string& path);

// While it lives, parameters that are made on this thread keep what their memory happens to hold: for whoever fills them
// from a file at once. Drawing them is most of the time that building a model takes.
class LeaveUninitialized {
 public:
  LeaveUninitialized();
  ~LeaveUninitialized();
  LeaveUninitialized(const LeaveUninitialized&) = delete;
  LeaveUninitialized& operator=(const LeaveUninitialized&) = delete;

 private:
  bool outer_;
};

// Every parameter of the tree. A tied tensor is filled once, under its first name.
void initialize(Module& module, const InitOptions& options, uint64_t seed);

}  // namespace glass
