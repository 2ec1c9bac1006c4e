// The exceptions of the library. Each says what happened, with the operation, the sizes involved and the scope it
// happened in: `matmul: inner dimensions differ, [2,4,8] x [2,6,4] (in encoder.layers.0.self_attn)`.
#pragma once

#include <stdexcept>
#include <string>

namespace glass {

// The base of all exceptions thrown here. The constructor appends the current scope (base/scope.h), so callers write
// only the operation and what is wrong.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message);
};

// Sizes that do not fit together.
class ShapeError : public Error {
  using Error::Error;
};

// An element type that an operation does not take.
class TypeError : public Error {
  using Error::Error;
};

// A number outside its range: an index, a rate, an axis.
class ValueError : public Error {
  using Error::Error;
};

// Differentiation asked for where it cannot be given: a second backward, a saved tensor that was changed in place, an
// operation without a derivative.
class GradError : public Error {
  using Error::Error;
};

// What the user gave is wrong: a recipe, a text, a model file, an option. The program exits with 2.
class InputError : public Error {
  using Error::Error;
};

// The system refused: a file that cannot be written, a full disk. The program exits with 1.
class SystemError : public Error {
  using Error::Error;
};

// A number became NaN or infinite where that cannot be healed.
class NonFiniteError : public Error {
  using Error::Error;
};

}  // namespace glass
