#include "autograd/testing.h"

namespace glass {
namespace {

using test::expect_error;
using test::expect_gradcheck;
using test::expect_values;
using test::uniform;

Tensor ids(const std::vector<int64_t>& values, const Shape& shape) { return Tensor::from(values, shape); }

TEST(Embedding, Gradients) {
  const auto check = [](const Shape& table, const Tensor& index) {
    expect_gradcheck([&](const Tensors& in) { return embedding(in[0], index); }, {uniform(table)});
  };
  check({5, 3}, ids({4, 0, 4, 1, 4, 2}, {2, 3}));  // an id several times
  check({5, 3}, ids({2}, {}));
  check({2, 1}, ids({1}, {1, 1}));
  check({5, 3}, ids({}, {0}));
  check({4, 17}, ids({3, 3, 0}, {3}).to(DType::i32));
  check({4, 2}, transpose(ids({0, 1, 2, 3, 0, 1}, {2, 3}), 0, 1));
  expect_gradcheck(
      [](const Tensors& in) {
        return embedding(transpose(in[0], 0, 1), ids({2, 0, 2}, {3}));
      },
      {uniform({4, 3})});
}

TEST(Embedding, Values) {
  const Tensor table = Tensor::from<float>({0, 1, 10, 11, 20, 21}, {3, 2});
  expect_values(embedding(table, ids({2, 0}, {2, 1})), {2, 1, 2}, {20, 21, 0, 1}, 0);
}

TEST(Embedding, Errors) {
  const Tensor table = Tensor::zeros({3, 2});
  expect_error<ValueError>(
      [&] {
        embedding(table, ids({0, 3}, {1, 2}));
      },
      {"embedding", "index 3", "place 1", "[1,2]", "[0,3)"});
  expect_error<ValueError>([&] { embedding(table, ids({-1}, {1})); }, {"embedding", "index -1", "place 0"});
  expect_error<TypeError>([&] { embedding(table, Tensor::zeros({1})); }, {"embedding", "int64", "float32"});
  expect_error<TypeError>([&] { embedding(table.to(DType::i32), ids({0}, {1})); }, {"embedding", "int32"});
  expect_error<ShapeError>([&] { embedding(Tensor::zeros({3}), ids({0}, {1})); }, {"embedding", "[V,D]", "[3]"});
}

TEST(IndexSelect, Gradients) {
  for (const int axis : {0, 1, -1}) {
    expect_gradcheck(
        [&](const Tensors& in) {
          return index_select(in[0], axis, ids({1, 0, 1}, {3}));
        },
        {uniform({2, 3, 2})});
  }
  expect_gradcheck(
      [](const Tensors& in) {
        return index_select(transpose(in[0], 0, 1), 0, ids({2, 2}, {2}));
      },
      {uniform({2, 3})});
  expect_gradcheck([](const Tensors& in) { return index_select(in[0], 0, ids({}, {0})); }, {uniform({2, 3})});
}

TEST(IndexSelect, Values) {
  const Tensor x = Tensor::from<int32_t>({0, 1, 2, 3, 4, 5}, {2, 3});
  expect_values(index_select(x, 0, ids({1, 1, 0}, {3})), {3, 3}, {3, 4, 5, 3, 4, 5, 0, 1, 2}, 0);
  expect_values(index_select(x, 1, ids({2}, {1}).to(DType::i32)), {2, 1}, {2, 5}, 0);
}

TEST(IndexSelect, Errors) {
  const Tensor x = Tensor::zeros({2, 3});
  expect_error<ValueError>([&] { index_select(x, 0, ids({2}, {1})); }, {"index_select", "index 2", "[0,2)"});
  expect_error<ShapeError>([&] { index_select(x, 0, ids({0}, {1, 1})); }, {"index_select", "[1,1]"});
  expect_error<TypeError>([&] { index_select(x, 0, Tensor::zeros({1})); }, {"index_select", "float32"});
}

}  // namespace
}  // namespace glass
