// Each kernel in float32 against its definition in float64, over ragged sizes and misaligned pointers, and for any number of
// threads the same bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "glassformer/base/random.h"
#include "glassformer/base/threads.h"
#include "kernels/adamw.h"
#include "kernels/cross_entropy.h"
#include "kernels/dropout.h"
#include "kernels/elementwise.h"
#include "kernels/gather.h"
#include "kernels/gemm.h"
#include "kernels/layer_norm.h"
#include "kernels/reduce.h"
#include "kernels/softmax.h"
#include "kernels/unary.h"

namespace glass::kernels {
namespace {

constexpr double epsilon = 1.1920929e-7;  // of float32

// Values in [−2,2], the first at an address that is not aligned to a vector.
struct Misaligned {
  explicit Misaligned(int64_t count, uint64_t seed = 1) : values(static_cast<size_t>(count) + 1), wide(static_cast<size_t>(count)) {
    Random random(seed);
    for (size_t i = 0; i < wide.size(); ++i) wide[i] = static_cast<double>(values[i + 1] = random.uniform(-2, 2));
  }
  float* data() { return values.data() + 1; }
  std::vector<float> values;
  std::vector<double> wide;
};

// ‖a − b‖ ≤ factor·ε·‖b‖
void expect_close(const float* a, const std::vector<double>& b, double factor, const char* what, int64_t size) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    difference += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
    norm += b[i] * b[i];
  }
  EXPECT_LE(std::sqrt(difference), factor * epsilon * std::sqrt(norm) + 1e-30) << what << " of size " << size;
}

const std::vector<int64_t> ragged{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 35, 63, 64, 65, 67, 129};

TEST(Gemm, EqualsTheDefinition) {
  for (const int64_t m : {1, 3, 17, 50, 130}) {
    for (const int64_t n : {1, 5, 16, 33, 1100}) {
      for (const int64_t k : {1, 7, 64, 300}) {
        for (const int transposed : {0, 1, 2, 3}) {
          if (m * n * k > 10'000'000) continue;
          const bool ta = (transposed & 1) != 0, tb = (transposed & 2) != 0;
          Misaligned a(m * k, 1), b(k * n, 2), c(m * n, 3);
          std::vector<double> want = c.wide;
          plain::gemm<double>({m, n, k}, 0.5, {a.wide.data(), ta ? m : k, ta}, {b.wide.data(), tb ? k : n, tb}, 1.0, want.data(), n);
          gemm({m, n, k}, 0.5f, {a.data(), ta ? m : k, ta}, {b.data(), tb ? k : n, tb}, 1.0f, c.data(), n);
          // Each sum of k products carries an error of at most k·ε relative to the sum of their absolute values.
          expect_close(c.data(), want, 4 * std::sqrt(static_cast<double>(k)) + 4, "gemm", m * n * k);
        }
      }
    }
  }
}

template <class F>
void expect_same_bits_for_any_threads(F&& compute) {
  set_threads(1);
  const std::vector<float> one = compute();
  for (const int count : {2, 3, 5}) {
    set_threads(count);
    const std::vector<float> other = compute();
    ASSERT_EQ(std::memcmp(one.data(), other.data(), one.size() * sizeof(float)), 0) << count << " threads";
  }
  set_threads(2);
}

TEST(Gemm, AnyNumberOfThreadsGivesTheSameBits) {
  Misaligned a(600 * 512, 1), b(512 * 1536, 2);
  expect_same_bits_for_any_threads([&] {
    std::vector<float> c(600 * 1536);
    gemm({600, 1536, 512}, 1.0f, {a.data(), 512, false}, {b.data(), 1536, false}, 0.0f, c.data(), 1536);
    return c;
  });
  expect_same_bits_for_any_threads([&] {  // a weight gradient: a long reduction
    std::vector<float> c(64 * 96);
    gemm({64, 96, 3000}, 1.0f, {a.data(), 64, true}, {b.data(), 96, false}, 0.0f, c.data(), 96);
    return c;
  });
}

TEST(Gemm, BetaZeroDoesNotReadTheOutput) {
  std::vector<float> a{1, 2}, b{3, 4}, c{std::nanf("")};
  gemm({1, 1, 2}, 1.0f, {a.data(), 2, false}, {b.data(), 1, false}, 0.0f, c.data(), 1);
  EXPECT_EQ(c[0], 11);
}

TEST(Softmax, EqualsTheDefinition) {
  for (const int64_t n : ragged) {
    const int64_t rows = 7;
    Misaligned x(rows * n), y(rows * n), dy(rows * n, 5), dx(rows * n);
    std::vector<double> want(x.wide.size()), want_dx(x.wide.size());
    softmax(x.wide.data(), rows, n, {}, want.data());
    softmax(x.data(), rows, n, {}, y.data());
    expect_close(y.data(), want, 16, "softmax", n);  // exp is good to a few ε, the sum to √n more
    softmax_backward(dy.wide.data(), want.data(), rows, n, want_dx.data());
    softmax_backward(dy.data(), y.data(), rows, n, dx.data());
    if (n > 1) {  // for n = 1 the true derivative is 0
      expect_close(dx.data(), want_dx, 64, "softmax_backward", n);
    }
  }
}

TEST(Softmax, MaskedEntriesAreExactlyZero) {
  for (const int64_t n : ragged) {
    Misaligned x(3 * n), y(3 * n);
    x.data()[0] = std::numeric_limits<float>::infinity();  // masked, so without effect
    std::vector<char> keep(static_cast<size_t>(3 * n), 1);
    for (int64_t j = 0; j < n; ++j) {
      keep[static_cast<size_t>(j)] = j % 2 == 1;
      keep[static_cast<size_t>(n + j)] = 0;
    }
    KeepRows rows{reinterpret_cast<const bool*>(keep.data()), {1, 1, 3}, {0, 0, n}, 1};
    softmax(x.data(), 3, n, rows, y.data());
    float first = 0, last = 0;
    for (int64_t j = 0; j < n; ++j) {
      if (j % 2 == 0) EXPECT_EQ(y.data()[j], 0);
      EXPECT_EQ(y.data()[n + j], 0) << "a fully masked row is zeros";
      first += y.data()[j];
      last += y.data()[2 * n + j];
    }
    EXPECT_NEAR(first, n > 1 ? 1 : 0, 1e-5);
    EXPECT_NEAR(last, 1, 1e-5);
  }
}

TEST(Softmax, NanInAKeptEntryIsSeen) {
  for (const int64_t n : ragged) {
    Misaligned x(n), y(n);
    x.data()[n / 2] = std::nanf("");
    softmax(x.data(), 1, n, {}, y.data());
    EXPECT_TRUE(std::isnan(y.data()[0])) << n;
  }
}

TEST(LayerNorm, EqualsTheDefinition) {
  for (const int64_t n : ragged) {
    if (n < 3) continue;  // of two values only the sign is left: no digits to compare
    const int64_t rows = 37;
    Misaligned x(rows * n), w(n, 2), b(n, 3), y(rows * n), m(rows), s(rows), dy(rows * n, 4), dx(rows * n), dw(n), db(n);
    std::vector<double> wy(x.wide.size()), wm(37), ws(37), wdx(x.wide.size()), wdw(w.wide.size()), wdb(w.wide.size());
    layer_norm(x.wide.data(), w.wide.data(), b.wide.data(), rows, n, 1e-5, wy.data(), wm.data(), ws.data());
    layer_norm(x.data(), w.data(), b.data(), rows, n, 1e-5, y.data(), m.data(), s.data());
    expect_close(y.data(), wy, 64, "layer_norm", n);
    layer_norm_backward(dy.wide.data(), x.wide.data(), w.wide.data(), wm.data(), ws.data(), rows, n, wdx.data(), wdw.data(), wdb.data());
    layer_norm_backward(dy.data(), x.data(), w.data(), m.data(), s.data(), rows, n, dx.data(), dw.data(), db.data());
    expect_close(dx.data(), wdx, 512, "layer_norm dx", n);
    expect_close(dw.data(), wdw, 256, "layer_norm dw", n);
    expect_close(db.data(), wdb, 64, "layer_norm db", n);
  }
}

TEST(CrossEntropy, EqualsTheDefinition) {
  for (const int64_t n : ragged) {
    const int64_t rows = 9;
    Misaligned x(rows * n), sums(rows), dx(rows * n);
    std::vector<double> wide_sums(9), want(x.wide.size());
    std::vector<int64_t> labels;
    for (int64_t r = 0; r < rows; ++r) labels.push_back(r == 4 ? -1 : r % n);
    const auto a = cross_entropy(x.data(), labels.data(), rows, n, 0.1, -1, sums.data());
    const auto b = cross_entropy(x.wide.data(), labels.data(), rows, n, 0.1, -1, wide_sums.data());
    EXPECT_EQ(a.count, rows - 1);
    EXPECT_NEAR(a.loss, b.loss, 1e-5 * (1 + std::abs(b.loss)));
    EXPECT_NEAR(a.nll, b.nll, 1e-5 * (1 + std::abs(b.nll)));
    cross_entropy_backward(2.0f, x.data(), labels.data(), sums.data(), rows, n, 0.1, -1, dx.data());
    cross_entropy_backward(2.0, x.wide.data(), labels.data(), wide_sums.data(), rows, n, 0.1, -1, want.data());
    if (n > 1) expect_close(dx.data(), want, 32, "cross_entropy_backward", n);
    for (int64_t j = 0; j < n; ++j) EXPECT_EQ(dx.data()[4 * n + j], 0);
  }
}

TEST(Unary, EqualsTheDefinition) {
  for (const Unary f : {Unary::exp, Unary::tanh, Unary::sigmoid, Unary::relu, Unary::gelu, Unary::gelu_tanh}) {
    for (const int64_t n : ragged) {
      Misaligned x(n), y(n);
      std::vector<double> want(x.wide.size());
      unary(f, x.wide.data(), n, want.data());
      unary(f, x.data(), n, y.data());
      // 1 − tanh loses digits for negative x in the tanh form of GELU; the norm forgives single ones.
      expect_close(y.data(), want, f == Unary::gelu_tanh ? 64 : 16, "unary", n);
    }
  }
}

TEST(Dropout, VectorsDrawWhatTheDefinitionDraws) {
  for (const int64_t n : ragged) {
    const DropoutPlace place{0x123456789abcdef0, 11, {2, 3, 1, n}};
    std::vector<float> ones(static_cast<size_t>(6 * n), 1), y(ones.size());
    std::vector<double> wide(ones.size(), 1), want(ones.size());
    dropout(ones.data(), place, 0.4, y.data());
    dropout(wide.data(), place, 0.4, want.data());
    for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i] == 0, want[i] == 0) << n << " at " << i;
  }
}

TEST(Reductions, AnyNumberOfThreadsGivesTheSameBits) {
  Misaligned x(500 * 333);
  expect_same_bits_for_any_threads([&] {
    std::vector<float> out(333 + 2);
    Layout layout{2, {500, 333}, {0, 1}};
    sum_to(x.data(), layout, 333, out.data());
    sum_axis(x.data(), 1, 500 * 333, 1, out.data() + 333);
    out[334] = static_cast<float>(squared_norm(x.data(), 500 * 333));
    return out;
  });
}

TEST(SumTo, UndoesEveryBroadcast) {
  // [2,3,4] from [2,1,4]: not a run of leading axes.
  std::vector<double> in(24), out(8);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<double>(i);
  sum_to(in.data(), Layout{3, {2, 3, 4}, {4, 0, 1}}, 8, out.data());
  EXPECT_EQ(out[0], 0 + 4 + 8);
  EXPECT_EQ(out[7], 15 + 19 + 23);
}

TEST(AdamW, OneStepByHand) {
  float parameter = 1, m = 0, v = 0;
  const float grad = 4;
  adamw({0.1, 0.9, 0.99, 1e-8, 0.5, 1, 0.5}, &grad, 1, &parameter, &m, &v);
  // g = 2; m = 0.2, v = 0.04; corrected 2 and 4; decay 1·(1 − 0.05); step 0.1·2/2.
  EXPECT_FLOAT_EQ(m, 0.2f);
  EXPECT_FLOAT_EQ(v, 0.04f);
  EXPECT_NEAR(parameter, 0.95f - 0.1f, 1e-6);
}

TEST(NonFinite, IsFound) {
  std::vector<float> x(100000, 1);
  EXPECT_FALSE(any_non_finite(x.data(), 100000));
  x[77777] = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(any_non_finite(x.data(), 100000));
}

}  // namespace
}  // namespace glass::kernels
