#include "inspect/mixing.h"

#include "inspect/measure.h"

namespace glass {

namespace {

// The axis of positions of a tap [B,H,T,..] or [B,T,D].
int row_axis(const Tensor& x) { return x.rank() == 4 ? 2 : 1; }

bool is_looked_at(const TraceEntry& entry, const RowRule& rule) {
  const int rank = entry.value.rank();
  return (rank == 3 || rank == 4) && entry.value.size(row_axis(entry.value)) == rule.length &&
         measure::last_name(entry.path) != "scores";
}

bool may_not_change_but_did(const Tensor& a, const Tensor& b, const RowRule& rule) {
  const int axis = row_axis(a);
  if (rule.changed > 0 && !measure::same_bits(a.narrowed(axis, 0, rule.changed), b.narrowed(axis, 0, rule.changed)))
    return true;
  const Dim after = rule.changed + 1;
  return !rule.later_too && after < rule.length &&
         !measure::same_bits(a.narrowed(axis, after, rule.length), b.narrowed(axis, after, rule.length));
}

Dim count_changed(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = a.narrowed(0, 0, 1).to_vector(), y = b.narrowed(0, 0, 1).to_vector();
  Dim count = 0;
  for (size_t i = 0; i < x.size(); ++i) count += x[i] != y[i];
  return count;
}

}  // namespace

std::optional<Mixing> first_mixing(const Probe& probe, const ProbeBatch& batch, const ProbeBatch& other,
                                   const RowRule& rule) {
  const Trace a = measure::trace_of(probe, batch), b = measure::trace_of(probe, other);
  std::string before;
  for (size_t i = 0; i < std::min(a.entries().size(), b.entries().size()); ++i) {
    const TraceEntry &x = a.entries()[i], &y = b.entries()[i];
    if (x.path != y.path || !(x.value.shape() == y.value.shape())) return {};
    if (is_looked_at(x, rule)) {
      if (may_not_change_but_did(x.value, y.value, rule)) {
        return Mixing{x.path, before, count_changed(x.value, y.value), x.value.numel() / x.value.size(0) / rule.length};
      }
      before = x.path;
    }
  }
  return {};
}

}  // namespace glass
