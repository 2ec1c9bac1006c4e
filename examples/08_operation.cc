// Adding an operation: SiLU (x·sigmoid(x)) with its derivative, checked against finite differences.
// In the library it would be four places: a line in ops.h, the operation in src/autograd/, a kernel, a test.
#include <cstdio>

#include "glassformer/autograd/gradcheck.h"
#include "glassformer/autograd/ops.h"

using namespace glass;

static Tensor silu(const Tensor& x) {
  const NoGrad values_only;  // the parts below are not recorded: the whole has a derivative of its own
  const Tensor s = sigmoid(x);
  return mul(x, s);  // y = x·s
}

static Tensor recorded_silu(const Tensor& x) {
  Tensor y = silu(x);
  return record("silu", y, {x}, [x = save(x)](const Tensor& dy) {
    const Tensor s = sigmoid(*x);  // y = x·s, so dx = dy·(s + x·s·(1 − s))
    return Tensors{mul(dy, add(s, mul(mul(*x, s), add(neg(s), 1))))};
  });
}

int main() {
  const Tensor x = Tensor::from({-2.0, -0.5, 0.0, 1.0, 3.0}, {5});
  const GradcheckResult result = gradcheck([](const Tensors& in) { return recorded_silu(in[0]); }, {x});
  std::printf("silu %s\nworst difference from finite differences %.1e\n", recorded_silu(x).text().c_str(),
              result.worst);
  return result.ok ? 0 : 1;
}
