// What the numbers of a tensor are like, without the numbers.
#pragma once

#include <limits>

#include "glassformer/tensor/tensor.h"

namespace glass {

// Numbers may come in any number of parts: what is known after the last part is, up to rounding, what one tensor of
// all of them would give. NaN and infinities are counted and otherwise left out.
struct Statistics {
  Dim count = 0;       // of all numbers
  Dim non_finite = 0;  // of them NaN or infinite
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double mean = 0;
  double squares = 0;  // Σ (x − mean)²

  Dim finite() const { return count - non_finite; }
  double deviation() const;  // of the population, √(squares / finite())
  void add(const Tensor& values);
  void add(const Statistics& other);
};

Statistics statistics_of(const Tensor& values);

}  // namespace glass
