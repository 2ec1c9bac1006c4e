// The same bits for any number of threads, and float32 beside float64, for a network that uses most operations.
#include "autograd/testing.h"
#include "glassformer/base/threads.h"

namespace glass {
namespace {

using test::uniform;

class ThreadsRestored {
 public:
  ~ThreadsRestored() { set_threads(before_); }

 private:
  int before_ = threads();
};

struct Network {
  Tensors parameters;

  explicit Network(DType dtype) {
    const std::vector<Shape> shapes = {{61, 96}, {300, 96}, {300}, {96, 300}, {96}, {96}, {96}, {61, 96}};
    for (size_t i = 0; i < shapes.size(); ++i) {
      Tensor values = uniform(shapes[i], i + 1, DType::f64, -0.2, 0.2).to(DType::f32).to(dtype);
      parameters.push_back(test::leaf(values.clone()));
    }
  }

  // ids [B,T] -> the loss of predicting them again
  Tensor forward(const Tensor& ids) const {
    const Tensors& p = parameters;
    const RandomScope random({.seed = 1});
    Tensor x = embedding(p[0], ids);                            // [B,T,D]
    const Tensor scores = matmul(x, transpose(x, 1, 2)) * 0.1;  // [B,T,T]
    x = x + matmul(softmax(scores), x);                         // [B,T,D]
    x = x + linear(gelu(linear(x, p[1], p[2])), p[3], p[4]);    // [B,T,D]
    x = dropout(layer_norm(x, p[5] + 1.0, p[6]), 0.1);          // [B,T,D]
    return cross_entropy(linear(x, p[7], {}), ids, {.label_smoothing = 0.1});
  }
};

Tensor some_ids() {
  Random random(4);
  std::vector<int64_t> ids;
  for (int i = 0; i < 6 * 70; ++i) ids.push_back(static_cast<int64_t>(random.below(61)));
  return Tensor::from(ids, {6, 70});
}

struct Result {
  double loss;
  std::vector<std::vector<double>> grads;
  bool operator==(const Result&) const = default;
};

Result run(DType dtype, int thread_count) {
  set_threads(thread_count);
  const Network network(dtype);
  const Tensor loss = network.forward(some_ids());
  backward(loss);
  Result result{loss.item(), {}};
  for (const Tensor& parameter : network.parameters) result.grads.push_back(parameter.grad().to_vector());
  return result;
}

TEST(Determinism, AnyNumberOfThreadsGivesTheSameBits) {
  const ThreadsRestored restored;
  const Result one = run(DType::f32, 1);
  for (const int count : {2, 3, 5}) EXPECT_TRUE(run(DType::f32, count) == one) << count << " threads";
}

TEST(Determinism, RepeatingGivesTheSameBits) { EXPECT_TRUE(run(DType::f32, threads()) == run(DType::f32, threads())); }

// Each gradient as a vector: its relative error is a few hundred roundings of 2⁻²⁴ at most.
TEST(Determinism, Float32AgreesWithFloat64) {
  const Result narrow = run(DType::f32, threads()), wide = run(DType::f64, threads());
  EXPECT_NEAR(narrow.loss, wide.loss, 1e-5 * wide.loss);
  for (size_t n = 0; n < wide.grads.size(); ++n) {
    double difference = 0, norm = 0;
    for (size_t i = 0; i < wide.grads[n].size(); ++i) {
      difference += std::pow(narrow.grads[n][i] - wide.grads[n][i], 2);
      norm += std::pow(wide.grads[n][i], 2);
    }
    EXPECT_GT(norm, 0) << n;
    EXPECT_LE(std::sqrt(difference), 2e-5 * std::sqrt(norm)) << "parameter " << n;
  }
}

}  // namespace
}  // namespace glass
