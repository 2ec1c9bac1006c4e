#include "glassformer/tensor/shape.h"

#include <gtest/gtest.h>

#include "glassformer/base/error.h"

namespace glass {
namespace {

TEST(Shape, AxesCountFromEitherEnd) {
  Shape shape{2, 3, 4};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[-1], 4);
  shape[-1] = 5;
  EXPECT_EQ(shape, (Shape{2, 3, 5}));
  EXPECT_THROW(shape[3], ValueError);
  EXPECT_THROW(shape[-4], ValueError);
  EXPECT_THROW(Shape{}[0], ValueError);
}

TEST(Shape, CountsElements) {
  EXPECT_EQ(Shape{}.numel(), 1);
  EXPECT_EQ((Shape{2, 3, 4}).numel(), 24);
  EXPECT_EQ((Shape{2, 0, 4}).numel(), 0);
  EXPECT_THROW((Shape{Dim{1} << 40, Dim{1} << 40}).numel(), ShapeError);
}

TEST(Shape, RowMajorStrides) {
  EXPECT_EQ((Shape{2, 3, 4}).row_major_strides(), (Shape{12, 4, 1}));
  EXPECT_EQ(Shape{}.row_major_strides(), Shape{});
  EXPECT_EQ((Shape{0, Dim{1} << 40, Dim{1} << 40}).row_major_strides()[-1], 1);  // must not overflow
}

TEST(Shape, HoldsEightAxes) {
  Shape shape{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_THROW(shape.append(9), ShapeError);
  EXPECT_THROW((Shape{1, 2, 3, 4, 5, 6, 7, 8, 9}), ShapeError);
  EXPECT_THROW(Shape(std::vector<Dim>(9, 1)), ShapeError);
}

TEST(Shape, ComparesRankAndExtents) {
  EXPECT_EQ((Shape{2, 3}), Shape(std::vector<Dim>{2, 3}));
  EXPECT_FALSE((Shape{2, 3}) == (Shape{2, 3, 1}));
  EXPECT_FALSE((Shape{2, 3}) == (Shape{3, 2}));
  EXPECT_EQ((Shape{2, 3}).text(), "[2,3]");
  EXPECT_EQ(Shape{}.text(), "[]");
}

TEST(Shape, BroadcastsAlignedAtTheEnd) {
  EXPECT_EQ(broadcast_shapes("add", {4, 1, 3}, {2, 1}), (Shape{4, 2, 3}));
  EXPECT_EQ(broadcast_shapes("add", {}, {2, 3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast_shapes("add", {0}, {1}), (Shape{0}));
  try {
    broadcast_shapes("add", {2, 3}, {2, 4});
    FAIL() << "nothing was thrown";
  } catch (const ShapeError& error) {
    const std::string message = error.what();
    for (const char* part : {"add", "[2,3]", "[2,4]"}) EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace glass
