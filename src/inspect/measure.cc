#include "inspect/measure.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_set>

#include "glassformer/autograd/ops.h"

namespace glass::measure {

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous(), y = b.contiguous();
  return x.shape() == y.shape() &&
         std::memcmp(x.raw(), y.raw(), static_cast<size_t>(x.numel()) * dtype_size(x.dtype())) == 0;
}

double rms(const Tensor& x) {
  double square = 0;
  for (const double value : x.to_vector()) square += value * value;
  return x.numel() == 0 ? 0 : std::sqrt(square / static_cast<double>(x.numel()));
}

double relative_difference(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = a.to_vector(), y = b.to_vector();
  double difference = 0, norm = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    difference += (x[i] - y[i]) * (x[i] - y[i]);
    norm += x[i] * x[i];
  }
  return std::sqrt(difference / std::max(norm, 1e-30));
}

Moments moments(const std::vector<double>& values) {
  const auto count = static_cast<double>(std::max<size_t>(1, values.size()));
  Moments m;
  double square = 0;
  for (const double value : values) m.mean += value / count;
  for (const double value : values) square += (value - m.mean) * (value - m.mean) / count;
  m.deviation = std::sqrt(square);
  return m;
}

Tensor with_changed(const Tensor& x, Dim example, Dim position, Dim vocabulary) {
  Tensor changed = x.contiguous().clone();
  const Dim first = example < 0 ? 0 : example, last = example < 0 ? x.size(0) : example + 1;
  for (Dim b = first; b < last; ++b) {
    Tensor row = changed.narrowed(0, b, b + 1).narrowed(1, position, position + 1);
    if (is_floating(x.dtype())) {
      row.copy_from(add(row, 3));
    } else {
      row.fill(static_cast<double>((static_cast<Dim>(row.to_vector()[0]) + 1) % vocabulary));
    }
  }
  return changed;
}

Tensor reordered(const Tensor& x, const std::vector<int64_t>& order) {
  Tensor out = x.contiguous().clone();
  for (size_t i = 0; i < order.size(); ++i) {
    const auto to = static_cast<Dim>(i);
    Tensor place = out.narrowed(1, to, to + 1);
    place.copy_from(x.narrowed(1, order[i], order[i] + 1));
  }
  return out;
}

ProbeBatch unpadded_batch(const Probe& probe, Dim batch, Dim source, Dim target) {
  Probe unpadded = probe;
  unpadded.pads_source = false;
  ProbeBatch out = random_batch(unpadded, batch, source, target);
  if (probe.reads_source && probe.pads_source)
    out.source_lengths = Tensor::full({batch}, static_cast<double>(source), DType::i32);
  return out;
}

ProbeBatch with_source(ProbeBatch batch, const Tensor& source) {
  batch.source = source;
  return batch;
}

ProbeBatch with_target(ProbeBatch batch, const Tensor& target) {
  batch.target = target;
  return batch;
}

std::string parent_of(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos ? std::string() : path.substr(0, dot);
}

std::string last_name(const std::string& path) { return path.substr(path.rfind('.') + 1); }

Trace trace_of(const Probe& probe, const ProbeBatch& batch) {
  const NoGrad values_only;
  return Trace::record([&] { probe.logits(batch); });
}

Tensor logits_of(const Probe& probe, const ProbeBatch& batch) {
  const NoGrad values_only;
  return probe.logits(batch);
}

std::vector<NamedParameter> distinct_parameters(const Module& module) {
  std::unordered_set<const void*> seen;
  std::vector<NamedParameter> distinct;
  for (const NamedParameter& parameter : module.named_parameters()) {
    if (seen.insert(parameter.tensor.id()).second) distinct.push_back(parameter);
  }
  return distinct;
}

void add_place(Findings& findings, const Finding& finding) {
  for (Finding& known : findings) {
    if (known.check != finding.check) continue;
    known.places.insert(known.places.end(), finding.places.begin(), finding.places.end());
    return;
  }
  findings.push_back(finding);
}

}  // namespace glass::measure
