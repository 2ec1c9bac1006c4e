#include "glassformer/inspect/training_curves.h"

#include <gtest/gtest.h>

#include "decode/tiny_models.h"
#include "glassformer/base/error.h"

namespace glass {
namespace {

class TrainingCurves : public ::testing::Test {
 protected:
  std::vector<TrainingCurve> read(const std::string& text) const {
    testing::write_bytes(path(), text);
    return read_curves(path());
  }
  std::string path() const { return folder_.file("metrics.jsonl"); }

 private:
  testing::Folder folder_;
};

TEST_F(TrainingCurves, EachMeasureByItsSteps) {
  const auto curves = read("{\"step\":10,\"loss\":3.5,\"note\":\"x\"}\n{\"step\":20,\"loss\":2.5,\"valid_nll\":2}\n");
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[0].name, "loss");
  EXPECT_EQ(curves[0].points, (std::vector<std::pair<double, double>>{{10, 3.5}, {20, 2.5}}));
  EXPECT_EQ(curves[1].name, "valid_nll");
  EXPECT_EQ(curves[1].points.size(), 1u);
}

TEST_F(TrainingCurves, ALineThatIsStillWrittenIsPassedOver) {
  EXPECT_EQ(read("{\"step\":1,\"loss\":3}\n{\"step\":2,\"lo").at(0).points.size(), 1u);
  EXPECT_THROW(read("{\"step\":1,\"lo\n{\"step\":2,\"loss\":3}\n"), InputError);
}

TEST_F(TrainingCurves, SaysWhatIsWrong) {
  try {
    read("{\"step\":1,\"loss\":3}\n{\"loss\":3}\n");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("metrics.jsonl:2:"), std::string::npos) << error.what();
  }
  EXPECT_THROW(read(""), InputError);
  EXPECT_THROW(read("[1]\n"), InputError);
  EXPECT_THROW(read_curves("nowhere/metrics.jsonl"), InputError);
}

TEST_F(TrainingCurves, DrawsTheChartsThereAre) {
  const auto curves = read(
      "{\"step\":0,\"loss\":4,\"lr\":0.001}\n{\"step\":50,\"loss\":3,\"lr\":0.002}\n"
      "{\"step\":100,\"loss\":2,\"lr\":0.001,\"valid_bleu\":12}\n");
  const Drawing drawing = draw_curves("a run", curves);
  ASSERT_EQ(svg_of(drawing).find("nan"), std::string::npos);
  std::vector<Drawing::Line> lines;
  for (const Drawing::Line& line : drawing.lines) {
    if (line.width > 1) lines.push_back(line);
  }
  ASSERT_EQ(lines.size(), 3u);                                      // loss, BLEU, rate
  EXPECT_LT(lines[0].points[0].second, lines[0].points[2].second);  // it falls: farther down is a larger y
  EXPECT_EQ(lines[0].points[1].first, (lines[0].points[0].first + lines[0].points[2].first) / 2);
  EXPECT_EQ(lines[1].points[0].first, lines[0].points[2].first);  // one axis of steps for all
  EXPECT_THROW(draw_curves("", read("{\"step\":1,\"grad_norm\":3}\n")), InputError);
}

}  // namespace
}  // namespace glass
