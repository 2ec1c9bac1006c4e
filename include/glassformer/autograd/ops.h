// The operations, each with its derivative (src/autograd/, forward and derivative on one screen).
//
// Element-wise operations broadcast: extents are aligned at the end and must be equal or 1. Floating operands must have
// the same type, float32 or float64. Every function throws ShapeError or TypeError naming itself and what it was given.
#pragma once

#include <vector>

#include "glassformer/autograd/autograd.h"
#include "glassformer/tensor/tensor.h"

namespace glass {

// --- element-wise (autograd/elementwise.cc)
Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);
Tensor add(const Tensor& a, double b);
Tensor mul(const Tensor& a, double b);
Tensor neg(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor relu(const Tensor& x);         // derivative at 0 is 0
enum class GeluForm { exact, tanh };  // x·Φ(x), or its approximation by tanh (Hendrycks & Gimpel, 2016)
Tensor gelu(const Tensor& x, GeluForm form = GeluForm::exact);
// x where `keep`, else `value`; keep is bool and broadcasts to x.
Tensor masked_fill(const Tensor& x, const Tensor& keep, double value);
Tensor cast(const Tensor& x, DType dtype);  // between floating types, the gradient cast back

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator*(const Tensor& a, double b) { return mul(a, b); }
inline Tensor operator*(double a, const Tensor& b) { return mul(b, a); }
inline Tensor operator+(const Tensor& a, double b) { return add(a, b); }
inline Tensor operator-(const Tensor& x) { return neg(x); }

// --- shape (autograd/shape_ops.cc); views where the layout allows, copies otherwise
Tensor reshape(const Tensor& x, const Shape& shape);  // one extent may be -1
Tensor transpose(const Tensor& x, int a, int b);
Tensor permute(const Tensor& x, const std::vector<int>& axes);
Tensor slice(const Tensor& x, int axis, Dim begin, Dim end);  // [begin,end); end may be past the last: an error
Tensor concat(const Tensors& parts, int axis);
Tensors split(const Tensor& x, Dim parts, int axis);  // into equal parts; the extent must divide
Tensor expand(const Tensor& x, const Shape& shape);   // broadcast

// --- products (autograd/matmul.cc, autograd/linear.cc)
// [..., M, K] x [..., K, N] -> [..., M, N]; leading axes broadcast. Transposed views are taken as they are, uncopied.
Tensor matmul(const Tensor& a, const Tensor& b);
// y = x Wᵀ + b. x [..., in], weight [out, in], bias [out] or undefined -> [..., out]. Multiplies float32 as the
// PrecisionScope says (autograd/precision.h), an x that is bfloat16 already in bfloat16.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias);
// x in the numbers that linear() multiplies it in here: for an x that several take, to be rounded and kept once. Where
// those are its own, x itself. The gradient is that of x, of its type.
Tensor rounded_for_products(const Tensor& x);

// --- gathering (autograd/gather.cc)
// Rows of a table. table [V, D], ids int32 or int64 of any shape -> ids.shape + [D]. Throws ValueError for an id
// outside [0, V), naming the id and its place.
Tensor embedding(const Tensor& table, const Tensor& ids);
// The slices of x along `axis` at `index` (rank 1) — e.g. the beams that go on.
Tensor index_select(const Tensor& x, int axis, const Tensor& index);

// --- reductions (autograd/reduce.cc)
Tensor sum(const Tensor& x);  // to a scalar
Tensor mean(const Tensor& x);
Tensor max(const Tensor& x);  // gradient to the first maximum
Tensor sum(const Tensor& x, int axis, bool keep_axis = false);
Tensor mean(const Tensor& x, int axis, bool keep_axis = false);
Tensor max(const Tensor& x, int axis, bool keep_axis = false);

// --- normalisation (autograd/softmax.cc, autograd/layer_norm.cc)
// Over the last axis. The only masked softmax there is: `keep` (bool, broadcasts to x; undefined = keep all) says which
// entries take part; the others get exactly 0, and a row that keeps none is all zeros with zero gradient.
Tensor softmax(const Tensor& x, const Tensor& keep = {});
Tensor log_softmax(const Tensor& x);
// (x − mean) / √(variance + epsilon) · weight + bias over the last axis [.., D], weight and bias [D].
// Ba, Kiros & Hinton, 2016. Variance is the biased one.
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon = 1e-5);

// --- dropout (autograd/dropout.cc)
// Zeroes each element with probability `rate` and scales the rest by 1/(1−rate) (Srivastava et al., 2014). The draw for
// an element is keyed by (seed, step, scope path, `stream`, example, the element's index on the other axes); axis 0 is
// the example, rank 2 to 4. Needs a RandomScope; throws Error without one. Rate 0 returns x itself.
Tensor dropout(const Tensor& x, double rate, int stream = 0);

// --- losses (autograd/loss.cc)
struct CrossEntropyOptions {
  double label_smoothing = 0;  // ε: target probability 1−ε+ε/V on the label, ε/V elsewhere (as PyTorch)
  int64_t ignored = -1;        // positions with this label count nowhere
};
// The sum over the counted positions of −Σ_v target_v · log softmax(logits)_v. logits [..., V]; labels int32 or int64
// [...]. Sum, not mean: micro-batches add up, and the training step divides once by all tokens. Scalar float. `nll`, if
// given, receives the same sum without smoothing.
Tensor cross_entropy_sum(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options = {},
                         double* nll = nullptr);
// cross_entropy_sum(linear(x, weight, bias), labels), in memory that does not grow with the number of logits: they are
// worked on some rows at a time. x [..,in], weight [V,in], bias [V] or undefined, labels [..].
Tensor linear_cross_entropy_sum(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& labels,
                                const CrossEntropyOptions& options = {}, double* nll = nullptr);
Dim count_labels(const Tensor& labels, int64_t ignored);
// cross_entropy_sum divided by the number of counted labels; zero if there is none.
Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options = {});
Tensor mse(const Tensor& prediction, const Tensor& target);  // mean of squared differences

}  // namespace glass
