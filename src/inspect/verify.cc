#include "glassformer/inspect/verify.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "glassformer/base/error.h"
#include "glassformer/inspect/trace_file.h"

namespace glass {

namespace {

std::vector<Dim> index_of(Dim place, const Shape& shape) {
  std::vector<Dim> index(static_cast<size_t>(shape.rank()));
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index[static_cast<size_t>(axis)] = place % shape[axis];
    place /= shape[axis];
  }
  return index;
}

// Written so that a NaN on one side alone is a difference.
bool agree(double value, double reference, double allowed) {
  if (std::isnan(value) && std::isnan(reference)) return true;
  return value == reference || std::abs(value - reference) <= allowed;
}

TensorComparison compare(const std::string& name, const Tensor& ours, const Tensor& reference, const Tolerance& t) {
  TensorComparison out{name, ours.shape(), reference.shape(), 0, 0, {}};
  if (!(out.shape == out.reference_shape)) return out;
  const std::vector<double> values = ours.to_vector(), expected = reference.to_vector();
  for (size_t i = 0; i < values.size(); ++i) {
    const double allowed = t.atol + t.rtol * std::abs(expected[i]);
    const double apart = std::abs(values[i] - expected[i]);
    if (std::isfinite(apart)) out.largest_difference = std::max(out.largest_difference, apart);
    if (agree(values[i], expected[i], std::isfinite(allowed) ? allowed : 0)) continue;
    if (out.out_of_tolerance++ == 0) {
      out.first = CellDifference{index_of(static_cast<Dim>(i), out.shape), values[i], expected[i], allowed};
    }
  }
  return out;
}

// Byte arrays among the tensors, so that they are compared like the rest.
SafeTensors with_bytes_as_numbers(SafeTensors contents) {
  for (const auto& [name, bytes] : contents.bytes) {
    std::vector<int32_t> numbers;
    for (const char byte : bytes) numbers.push_back(static_cast<unsigned char>(byte));
    contents.tensors[name] = Tensor::from(numbers, {static_cast<Dim>(numbers.size())});
  }
  contents.bytes.clear();
  return contents;
}

}  // namespace

bool VerifyReport::agrees() const { return missing.empty() && first_difference() == nullptr; }

const TensorComparison* VerifyReport::first_difference() const {
  const auto found =
      std::find_if(compared.begin(), compared.end(), [](const TensorComparison& c) { return !c.agrees(); });
  return found == compared.end() ? nullptr : &*found;
}

VerifyReport verify(const SafeTensors& trace_file, const std::string& trace_path, const SafeTensors& reference_file,
                    const std::string& reference_path, const Tolerance& tolerance) {
  const SafeTensors trace = with_bytes_as_numbers(trace_file), reference = with_bytes_as_numbers(reference_file);
  if (reference.tensors.empty()) throw InputError(reference_path + ": holds no tensor to compare with");
  VerifyReport report;
  report.tolerance = tolerance;
  for (const std::string& name : names_in_order(trace, trace_path)) {
    const auto found = reference.tensors.find(name);
    if (found == reference.tensors.end()) {
      report.extra.push_back(name);
    } else {
      report.compared.push_back(compare(name, trace.tensors.at(name), found->second, tolerance));
    }
  }
  for (const auto& [name, tensor] : reference.tensors) {
    if (trace.tensors.count(name) == 0) report.missing.push_back(name);
  }
  return report;
}

}  // namespace glass
