// Compares a trace with a reference: the same tensors computed elsewhere, for instance by PyTorch and written with
// safetensors.torch.save_file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "glassformer/tensor/safetensors.h"

namespace glass {

// A number x agrees with its reference r if |x − r| <= atol + rtol·|r|, as in torch.allclose; and if both are NaN, or
// the same infinity.
struct Tolerance {
  double rtol = 1e-4;
  double atol = 1e-5;
};

// A cell out of tolerance.
struct CellDifference {
  std::vector<Dim> index;  // the last extent's is the cell, the others name the row
  double value = 0, reference = 0;
  double allowed = 0;  // the difference that was
};

struct TensorComparison {
  std::string name;
  Shape shape, reference_shape;  // where they differ no cell is compared
  Dim out_of_tolerance = 0;      // cells
  double largest_difference = 0;
  std::optional<CellDifference> first;  // in row-major order
  bool agrees() const { return shape == reference_shape && out_of_tolerance == 0; }
};

struct VerifyReport {
  std::vector<TensorComparison> compared;  // of both files, in the order they were made where the trace says it
  std::vector<std::string> missing;        // in the reference only
  std::vector<std::string> extra;          // in the trace only
  Tolerance tolerance;

  // Whether all that the reference has is there and agrees; more in the trace is no difference.
  bool agrees() const;
  const TensorComparison* first_difference() const;  // nullptr if there is none
};

// Types need not agree: numbers are compared as float64. Byte arrays (U8) are compared as numbers too. The paths are
// for messages. Throws InputError if the reference holds nothing to compare.
VerifyReport verify(const SafeTensors& trace, const std::string& trace_path, const SafeTensors& reference,
                    const std::string& reference_path, const Tolerance& tolerance);

// Two lines on the first tensor, row and cell that differ; the other tensors that do, missing and extra ones, a
// summary.
std::string verify_text(const VerifyReport& report);

// {"agrees", "rtol", "atol", "compared", "first": {"name", "row", "cell", "value", "reference", "difference",
// "allowed"}, "differing": [{"name", "shape", "reference_shape", "out_of_tolerance", "cells", "largest_difference",
// "first"}], "missing", "extra"}; "first" is null if all agree. NaN and infinities are strings.
std::string verify_json(const VerifyReport& report);

}  // namespace glass
