#include "autograd/testing.h"

namespace glass {
namespace {

using test::expect_error;
using test::expect_gradcheck;
using test::expect_values;
using test::uniform;

TEST(ShapeOps, Gradients) {
  expect_gradcheck([](const Tensors& in) { return reshape(in[0], {3, -1}); }, {uniform({2, 3, 5})});
  expect_gradcheck([](const Tensors& in) { return reshape(in[0], {}); }, {uniform({1, 1})});
  expect_gradcheck([](const Tensors& in) { return reshape(transpose(in[0], 0, 2), {5, 6}); }, {uniform({2, 3, 5})});
  expect_gradcheck([](const Tensors& in) { return transpose(in[0], 0, -1) * in[1]; },
                   {uniform({2, 3, 5}), uniform({5, 3, 2}, 2)});
  expect_gradcheck([](const Tensors& in) { return transpose(in[0], 1, 1); }, {uniform({2, 3})});
  expect_gradcheck([](const Tensors& in) { return permute(in[0], {2, 0, -2}); }, {uniform({2, 3, 5})});
  expect_gradcheck([](const Tensors& in) { return permute(in[0], {3, 1, 0, 2}); }, {uniform({2, 1, 4, 3})});
  expect_gradcheck([](const Tensors& in) { return permute(in[0], {}); }, {uniform({})});
  expect_gradcheck([](const Tensors& in) { return slice(in[0], 1, 1, 3); }, {uniform({2, 4, 3})});
  expect_gradcheck([](const Tensors& in) { return slice(in[0], -1, 2, 2); }, {uniform({2, 4})});
  expect_gradcheck([](const Tensors& in) { return slice(transpose(in[0], 0, 1), 0, 1, 3); }, {uniform({2, 4})});
  expect_gradcheck([](const Tensors& in) { return expand(in[0], {4, 2, 3}); }, {uniform({2, 1})});
  expect_gradcheck([](const Tensors& in) { return expand(in[0], {2, 2}); }, {uniform({})});
  expect_gradcheck([](const Tensors& in) { return concat(in, 1); },
                   {uniform({2, 3}, 1), uniform({2, 1}, 2), uniform({2, 0}, 3), uniform({2, 4}, 4)});
  expect_gradcheck(
      [](const Tensors& in) {
        return concat({in[0], transpose(in[1], 0, 1), in[0]}, -2);
      },
      {uniform({2, 3}, 1), uniform({3, 5}, 2)});
}

TEST(ShapeOps, SplitGradients) {
  const auto weighted = [](const Tensor& x, int axis, Dim parts) {
    const Tensors out = split(x, parts, axis);
    Tensor total = out[0] * 1.0;
    for (size_t i = 1; i < out.size(); ++i) total = total + out[i] * static_cast<double>(i + 1);
    return total;
  };
  expect_gradcheck([&](const Tensors& in) { return weighted(in[0], 1, 3); }, {uniform({2, 6, 2})});
  expect_gradcheck([&](const Tensors& in) { return weighted(transpose(in[0], 0, 1), -1, 2); }, {uniform({4, 3})});
  expect_gradcheck([&](const Tensors& in) { return weighted(in[0], 0, 1) + in[0]; }, {uniform({4})});
  // Only one part is used; the others' places get zero. Of another computed tensor, used beside its parts too.
  expect_gradcheck([](const Tensors& in) { return split(in[0], 3, 0)[1]; }, {uniform({6})});
  expect_gradcheck(
      [](const Tensors& in) {
        const Tensor x = tanh(in[0]);
        const Tensors parts = split(x, 2, 0);
        return concat({parts[1], x, parts[0] * parts[1]}, 0);
      },
      {uniform({6})});
}

TEST(ShapeOps, SplitPartsInTwoPassesGiveAnErrorNotAWrongGradient) {
  Tensor x = test::leaf(uniform({4}));
  const Tensors parts = split(x, 2, 0);
  backward(sum(parts[0]));
  expect_values(x.grad(), {4}, {1, 1, 0, 0}, 0);
  expect_error<GradError>([&] { backward(sum(parts[1])); }, {"split", "run the forward pass again"});
}

TEST(ShapeOps, Values) {
  const Tensor x = Tensor::from<float>({0, 1, 2, 3, 4, 5}, {2, 3});
  expect_values(reshape(x, {-1, 2}), {3, 2}, {0, 1, 2, 3, 4, 5}, 0);
  expect_values(transpose(x, 0, 1), {3, 2}, {0, 3, 1, 4, 2, 5}, 0);
  expect_values(reshape(transpose(x, 0, 1), {6}), {6}, {0, 3, 1, 4, 2, 5}, 0);
  expect_values(permute(reshape(x, {1, 2, 3}), {2, 0, 1}), {3, 1, 2}, {0, 3, 1, 4, 2, 5}, 0);
  expect_values(slice(x, 1, 1, 3), {2, 2}, {1, 2, 4, 5}, 0);
  expect_values(expand(slice(x, 0, 1, 2), {2, 3}), {2, 3}, {3, 4, 5, 3, 4, 5}, 0);
  expect_values(concat({x, slice(x, 1, 0, 1)}, 1), {2, 4}, {0, 1, 2, 0, 3, 4, 5, 3}, 0);
  const Tensors parts = split(x, 3, 1);
  ASSERT_EQ(parts.size(), 3u);
  expect_values(parts[2], {2, 1}, {2, 5}, 0);
}

TEST(ShapeOps, TakeEveryElementType) {
  const Tensor ids = Tensor::arange(6);
  expect_values(concat({transpose(reshape(ids, {2, 3}), 0, 1), Tensor::zeros({3, 1}, DType::i64)}, 1), {3, 3},
                {0, 3, 0, 1, 4, 0, 2, 5, 0}, 0);
  expect_values(split(test::bools({1, 0, 0, 1}, {4}), 2, 0)[1], {2}, {0, 1}, 0);
}

TEST(ShapeOps, AreViewsWhereTheLayoutAllows) {
  const Tensor x = Tensor::zeros({2, 3});
  EXPECT_EQ(reshape(x, {6}).raw(), x.raw());
  EXPECT_EQ(transpose(x, 0, 1).raw(), x.raw());
  EXPECT_EQ(permute(x, {1, 0}).raw(), x.raw());
  EXPECT_EQ(slice(x, 1, 0, 2).raw(), x.raw());
  EXPECT_EQ(expand(x, {4, 2, 3}).raw(), x.raw());
  EXPECT_EQ(split(x, 2, 0)[0].raw(), x.raw());
  EXPECT_NE(reshape(transpose(x, 0, 1), {6}).raw(), x.raw());
}

TEST(ShapeOps, Errors) {
  const Tensor x = Tensor::zeros({2, 3}), exact = Tensor::zeros({2, 3}, DType::f64);
  expect_error<ShapeError>([&] { reshape(x, {4}); }, {"reshape", "[2,3]", "[4]"});
  expect_error<ShapeError>([&] { reshape(x, {4, -1}); }, {"reshape", "[2,3]", "[4,-1]"});
  expect_error<ShapeError>([&] { reshape(x, {-1, -1}); }, {"reshape", "[-1,-1]"});
  expect_error<ShapeError>([&] { reshape(x, {-2, -3}); }, {"reshape", "[2,3]", "[-2,-3]"});
  expect_error<ShapeError>([&] { reshape(x, {Dim{1} << 62, 4, -1}); }, {"reshape", "[2,3]"});
  expect_error<ValueError>([&] { transpose(x, 0, 2); }, {"2", "[2,3]"});
  expect_error<ShapeError>([&] { permute(x, {0}); }, {"permute", "[2,3]"});
  expect_error<ValueError>([&] { permute(x, {0, 0}); }, {"permute", "twice", "[2,3]"});
  expect_error<ValueError>([&] { slice(x, 1, 1, 4); }, {"slice", "[1,4)", "[2,3]"});
  expect_error<ValueError>([&] { slice(x, 1, 2, 1); }, {"slice", "[2,1)", "[2,3]"});
  expect_error<ShapeError>([&] { concat({}, 0); }, {"concat"});
  expect_error<ShapeError>([&] { concat({x, Tensor::zeros({3, 3})}, 1); }, {"concat", "[2,3]", "[3,3]"});
  expect_error<ShapeError>([&] { concat({x, exact}, 0); }, {"concat", "type"});
  expect_error<ShapeError>([&] { split(x, 2, 1); }, {"split", "[2,3]", "2"});
  expect_error<ShapeError>([&] { split(x, 0, 1); }, {"split"});
  expect_error<ShapeError>([&] { expand(x, {2, 4}); }, {"expand", "[2,3]", "[2,4]"});
  expect_error<ShapeError>([&] { expand(Tensor::zeros({1}), {-3}); }, {"expand", "[1]", "[-3]"});
  expect_error<ShapeError>([&] { expand(x, {3}); }, {"expand", "[2,3]", "[3]"});
}

}  // namespace
}  // namespace glass
