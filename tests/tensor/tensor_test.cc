#include "glassformer/tensor/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "glassformer/base/error.h"
#include "glassformer/tensor/grad_state.h"

namespace glass {
namespace {

constexpr DType all_types[] = {DType::f32, DType::f64, DType::bf16, DType::i32, DType::i64, DType::boolean};

TEST(Tensor, Factories) {
  for (const DType type : all_types) {
    EXPECT_EQ(Tensor::zeros({2, 3}, type).to_vector(), std::vector<double>(6, 0)) << dtype_name(type);
    EXPECT_EQ(Tensor::full({2, 3}, 1, type).to_vector(), std::vector<double>(6, 1)) << dtype_name(type);
    EXPECT_EQ(Tensor::empty({2, 3}, type).dtype(), type);
  }
  EXPECT_EQ(Tensor::arange(4).to_vector(), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(Tensor::arange(4, DType::bf16).to_vector(), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(Tensor::scalar(2.5).rank(), 0);
  EXPECT_EQ(Tensor::scalar(2.5).item(), 2.5);
  EXPECT_EQ(Tensor::zeros({2, 0, 3}).numel(), 0);
  EXPECT_FALSE(Tensor().defined());
}

TEST(Tensor, ViewsShareStorageAndVersion) {
  Tensor x = Tensor::arange(24, DType::f32).reshaped({2, 3, 4});
  const Tensor t = x.transposed(0, 2);  // [4,3,2]
  EXPECT_EQ(t.shape(), (Shape{4, 3, 2}));
  EXPECT_FALSE(t.is_contiguous());
  EXPECT_EQ(t.at({3, 1, 1}), x.at({1, 1, 3}));
  const uint32_t version = t.version();
  x.narrowed(1, 2, 3).fill(-1);
  EXPECT_EQ(t.at({0, 2, 1}), -1);
  EXPECT_EQ(t.at({0, 1, 1}), 16);  // beside the slice
  EXPECT_NE(t.version(), version);
  EXPECT_EQ(t.version(), x.version());
  EXPECT_EQ(t.contiguous().at({3, 2, 0}), -1);
}

TEST(Tensor, CopiesShareNothing) {
  Tensor x = Tensor::arange(6, DType::f32).reshaped({2, 3});
  const Tensor copy = x.clone(), turned = x.transposed(0, 1).contiguous(), same = x.contiguous(),
               also = x.to(DType::f32);
  x.fill(9);
  EXPECT_EQ(copy.to_vector(), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(turned.to_vector(), (std::vector<double>{0, 3, 1, 4, 2, 5}));
  EXPECT_TRUE(same.same_as(x));
  EXPECT_TRUE(also.same_as(x));
}

TEST(Tensor, ExpandsByZeroStrides) {
  const Tensor x = Tensor::from({1.0f, 2.0f}, {2, 1});
  const Tensor e = x.expanded({3, 2, 2});
  EXPECT_EQ(e.strides()[0], 0);
  EXPECT_EQ(e.strides()[2], 0);
  EXPECT_EQ(e.to_vector(), (std::vector<double>{1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2}));
  Tensor target = Tensor::zeros({3, 2, 2}, DType::i32);
  target.copy_from(x);  // broadcasts and converts
  EXPECT_EQ(target.to_vector(), e.to_vector());
}

TEST(Tensor, EmptyOnesHaveViewsAndCopies) {
  const Tensor x = Tensor::zeros({0, Dim{1} << 40, 3});
  EXPECT_TRUE(x.transposed(0, 1).is_contiguous());
  EXPECT_TRUE(x.transposed(0, 2).clone().to_vector().empty());
  EXPECT_EQ(Tensor::zeros({0, 4}).reshaped({2, 0}).shape(), (Shape{2, 0}));
}

TEST(Tensor, ConvertsBetweenTypes) {
  const Tensor x = Tensor::from({-1.5, 0.0, 2.0}, {3});
  EXPECT_EQ(x.to(DType::f32).to(DType::i32).to_vector(), (std::vector<double>{-1, 0, 2}));
  EXPECT_EQ(x.to(DType::boolean).to_vector(), (std::vector<double>{1, 0, 1}));
  for (const DType from : all_types) {
    for (const DType to : all_types) {
      EXPECT_EQ(Tensor::from({0.0, 1.0}, {2}).to(from).to(to).to_vector(), (std::vector<double>{0, 1}));
    }
  }
}

TEST(Tensor, Errors) {
  const Tensor x = Tensor::zeros({2, 3});
  EXPECT_THROW(x.data<double>(), TypeError);
  EXPECT_THROW(x.at({0, 3}), ValueError);
  EXPECT_THROW(x.at({0}), ValueError);
  EXPECT_THROW(x.item(), ShapeError);
  EXPECT_THROW(x.narrowed(1, 2, 4), ValueError);
  EXPECT_THROW(x.narrowed(1, 2, 1), ValueError);
  EXPECT_THROW(x.reshaped({4}), ShapeError);
  EXPECT_THROW(x.transposed(0, 1).reshaped({6}), ShapeError);
  EXPECT_THROW(x.expanded({2, 4}), ShapeError);
  EXPECT_THROW(x.expanded({3}), ShapeError);
  EXPECT_THROW(x.size(2), ValueError);
  EXPECT_THROW(Tensor::from({1.0f, 2.0f}, {3}), ShapeError);
  EXPECT_THROW(Tensor::zeros({-1}), ShapeError);
  EXPECT_THROW(Tensor::empty({Dim{1} << 40, Dim{1} << 40}), ShapeError);
  EXPECT_THROW(Tensor::empty({Dim{1} << 61}, DType::f64), ShapeError);
}

TEST(Tensor, RehomeMovesEveryHandle) {
  Tensor a = Tensor::from({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  const Tensor other = a;
  Tensor home = Tensor::zeros({10});
  a.rehome(home, 3);
  EXPECT_EQ(home.to_vector(), (std::vector<double>{0, 0, 0, 1, 2, 3, 4, 0, 0, 0}));
  home.fill(7);
  EXPECT_EQ(other.at({1, 1}), 7);
  EXPECT_EQ(other.version(), home.version());
}

TEST(Tensor, RehomeKeepsStridedValuesAndChecksItsHome) {
  Tensor a = Tensor::arange(6, DType::f32).reshaped({2, 3}).transposed(0, 1);
  a.rehome(Tensor::zeros({6}), 0);
  EXPECT_TRUE(a.is_contiguous());
  EXPECT_EQ(a.to_vector(), (std::vector<double>{0, 3, 1, 4, 2, 5}));
  EXPECT_THROW(a.rehome(Tensor::zeros({6}, DType::f64), 0), TypeError);
  EXPECT_THROW(a.rehome(Tensor::zeros({6}), 1), ValueError);
  EXPECT_THROW(a.rehome(Tensor::zeros({2, 6}), 0), ShapeError);
  EXPECT_EQ(a.at({2, 1}), 5);  // as it was
}

TEST(Tensor, DetachKeepsStorageNotTheGraph) {
  Tensor x = Tensor::zeros({2});
  x.set_requires_grad(true);
  const Tensor detached = x.detach(), handle = x;
  x.fill(3);
  EXPECT_EQ(detached.at({1}), 3);
  EXPECT_EQ(detached.version(), x.version());
  EXPECT_FALSE(detached.requires_grad());
  EXPECT_FALSE(detached.same_as(x));
  EXPECT_TRUE(handle.requires_grad());
  EXPECT_TRUE(handle.same_as(x));
}

TEST(Tensor, GradientBuffers) {
  Tensor x = Tensor::zeros({2, 2});
  EXPECT_FALSE(x.grad().defined());
  const Tensor buffer = Tensor::full({2, 2}, 5);
  x.set_grad(buffer);
  EXPECT_TRUE(x.grad().same_as(buffer));
  EXPECT_THROW(x.set_grad(Tensor::zeros({4})), ShapeError);
  EXPECT_THROW(x.set_grad(Tensor::zeros({2, 2}, DType::f64)), TypeError);
  x.set_grad(Tensor());
  EXPECT_FALSE(x.grad().defined());
  EXPECT_THROW(Tensor::arange(3).set_requires_grad(true), TypeError);
}

TEST(Tensor, Text) {
  EXPECT_EQ(Tensor::from({1.0f, -2.5f, 3.0f, 4.0f}, {2, 2}).text(1),
            "float32 [2,2]\n[[     1.0,     -2.5],\n [     3.0,      4.0]]");
  EXPECT_EQ(Tensor::arange(3).text(), "int64 [3]\n[0, 1, 2]");
  EXPECT_EQ(Tensor::arange(100).text(), "int64 [100]\n[0, 1, 2, 3, …, 96, 97, 98, 99]");
  EXPECT_EQ(Tensor::zeros({0}).text(), "float32 [0]\n[]");
}

}  // namespace
}  // namespace glass
