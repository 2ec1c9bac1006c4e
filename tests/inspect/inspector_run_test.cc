#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "glassformer/base/error.h"
#include "inspect/asking.h"

namespace glass {
namespace {

using Json = nlohmann::json;

class InspectorRun : public ::testing::Test {
 protected:
  void write(const std::string& metrics, const std::string& state = "finished\n") {
    testing::write_bytes(folder_.file("metrics.jsonl"), metrics);
    testing::write_bytes(folder_.file("run.state"), state);
  }
  std::string folder() const { return folder_.file("."); }
  Json ask(const std::string& path, const std::map<std::string, std::string>& query = {}) {
    Inspector inspector({"", {}, folder()});
    const Answer answer = inspector.answer({"GET", path, query, {}});
    EXPECT_EQ(answer.status, 200) << answer.body;
    return Json::parse(answer.body);
  }
  testing::Folder folder_;
};

TEST_F(InspectorRun, ShortSeriesAreWhole) {
  write("{\"step\":1,\"loss\":3}\n{\"step\":2,\"loss\":2,\"grad_norm.encoder\":0.5}\n{\"step\":3,\"lo");
  const Json answer = ask("run/series");
  EXPECT_EQ(answer["last_step"], 2);
  EXPECT_EQ(answer["series"]["loss"], Json::parse("[[1,1,3,3,3],[2,2,2,2,2]]"));
  EXPECT_EQ(answer["series"]["grad_norm.encoder"].size(), 1u);
}

TEST_F(InspectorRun, BinsKeepTheirExtremes) {
  std::string metrics;
  for (int step = 1; step <= 1000; ++step) {
    metrics += Json{{"step", step}, {"loss", step == 500 ? 99.0 : 1.0 / step}, {"nll", 0}}.dump() + "\n";
  }
  write(metrics);
  const Json answer = ask("run/series", {{"names", "loss,other"}, {"points", "7"}, {"from", "11"}});
  EXPECT_EQ(answer["series"].size(), 1u);
  const Json& bins = answer["series"]["loss"];
  ASSERT_EQ(bins.size(), 7u);
  double largest = 0;
  int next = 11;
  for (const Json& bin : bins) {
    EXPECT_EQ(bin[0], next);
    next = bin[1].get<int>() + 1;
    largest = std::max(largest, bin[3].get<double>());
    EXPECT_LE(bin[2], bin[4]);
  }
  EXPECT_EQ(next, 1001);
  EXPECT_EQ(largest, 99);
  EXPECT_DOUBLE_EQ(bins.back()[4].get<double>(), 1e-3);
}

TEST_F(InspectorRun, OneThatHasOnlyBegunHasNoSeriesYet) {
  for (const char* metrics : {"", "{\"step\":1,\"lo"}) {
    write(metrics, "unfinished\n");
    const Json answer = ask("run/series");
    EXPECT_EQ(answer["last_step"], 0);
    EXPECT_TRUE(answer["series"].empty());
  }
}

TEST_F(InspectorRun, IsLiveWhileAProcessHoldsIt) {
  write("{\"step\":1,\"loss\":3}\n", "unfinished\n");
  EXPECT_EQ(ask("meta")["run"]["live"], false);  // killed
  const int held = open(folder_.file("run.state").c_str(), O_RDWR);
  ASSERT_EQ(flock(held, LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(ask("meta")["run"]["live"], true);
  close(held);
  EXPECT_EQ(ask("meta")["run"]["live"], false);
}

TEST_F(InspectorRun, FindingsAreMadeAgainWhenItHasGoneOn) {
  std::string metrics;
  for (int step = 1; step <= 100; ++step) metrics += Json{{"step", step}, {"loss", 9.0 - 0.05 * step}}.dump() + "\n";
  write(metrics);
  Inspector inspector({"", {}, folder()});
  const Question question{"GET", "run/findings", {}, {}};
  EXPECT_EQ(Json::parse(inspector.answer(question).body)["healthy"], true);
  for (int step = 101; step <= 160; ++step) metrics += Json{{"step", step}, {"loss", 500.0}}.dump() + "\n";
  write(metrics);
  EXPECT_EQ(Json::parse(inspector.answer(question).body)["healthy"], false);
}

TEST_F(InspectorRun, BadQuestionsAndDamagedFilesAreRefused) {
  write("{\"step\":1,\"loss\":3}\nno metrics\n{\"step\":2,\"loss\":3}\n");
  Inspector inspector({"", {}, folder()});
  EXPECT_EQ(inspector.answer({"GET", "run/series", {}, {}}).status, 400);
  write("{\"step\":1e300,\"loss\":3}\n");
  EXPECT_EQ(inspector.answer({"GET", "run/series", {}, {}}).status, 400);
  for (const char* points : {"0", "-1", "x", "100000"}) {
    EXPECT_EQ(inspector.answer({"GET", "run/series", {{"points", points}}, {}}).status, 400) << points;
  }
  EXPECT_EQ(inspector.answer({"GET", "run/series", {{"from", "-3"}}, {}}).status, 400);
}

}  // namespace
}  // namespace glass
