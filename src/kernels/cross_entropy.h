// Cross-entropy of rows of logits with label smoothing, without storing probabilities.
#pragma once

#include <cstdint>

namespace glass::kernels {

struct CrossEntropySums {
  double loss = 0;    // Σ over counted rows of −Σ_v target_v · log p_v
  double nll = 0;     // Σ over counted rows of −log p_label: the loss without smoothing
  int64_t count = 0;  // rows whose label is not `ignored`
};

// target_v = (1 − smoothing)·[v = label] + smoothing/n. Writes each row's log Σ exp to `log_sums` for the backward
// pass.
template <class T>
CrossEntropySums cross_entropy(const T* logits, const int64_t* labels, int64_t rows, int64_t n, double smoothing,
                               int64_t ignored, T* log_sums);

// dlogits = upstream · (softmax − target); zero in ignored rows.
template <class T>
void cross_entropy_backward(T upstream, const T* logits, const int64_t* labels, const T* log_sums, int64_t rows,
                            int64_t n, double smoothing, int64_t ignored, T* dlogits);

}  // namespace glass::kernels
