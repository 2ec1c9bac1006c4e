// Questions that cannot be answered get an error that says why, and leave the inspector as it was.
#include "inspect/asking.h"

namespace glass {
namespace {

using testing::Asking;

class InspectorQuestions : public ::testing::Test {
 protected:
  void expect_refused(const Answer& answer, int status, const std::string& what) {
    EXPECT_EQ(answer.status, status) << what << ": " << answer.body;
    const auto json = nlohmann::json::parse(answer.body, nullptr, false);
    ASSERT_TRUE(json.is_object()) << answer.body;
    EXPECT_FALSE(json["error"].get<std::string>().empty());
    EXPECT_LT(answer.body.size(), 2000u) << what;  // no question is thrown back whole
  }
  void expect_refused(const std::string& path, int status, const std::map<std::string, std::string>& query = {}) {
    expect_refused(asking_.ask(path, query), status, path);
  }
  void expect_body_refused(const std::string& path, const std::string& body, int status = 400) {
    expect_refused(asking_.post(path, body), status, body.substr(0, 80));
  }

  Asking asking_;
  std::string trace_ = asking_.trace();
};

TEST_F(InspectorQuestions, UnknownPlaces) {
  for (const char* path : {"",
                           "/",
                           "nothing",
                           "meta/more",
                           "traces",
                           "traces/",
                           "traces/2",
                           "traces/-1",
                           "traces/1/",
                           "traces/1/attention",
                           "traces/1/attention/cross",
                           "traces/1/attention/nothing/overview",
                           "traces/1/attention/cross/2/0/weights",
                           "traces/1/attention/cross/-1/0/weights",
                           "traces/1/attention/cross/0/2/weights",
                           "traces/1/attention/cross/x/0/weights",
                           "traces/1/attention/cross/0/0/nothing",
                           "traces/1/attention/cross/0/0/weights/more",
                           "traces/1/attention/cross/99999999999999999999/0/weights",
                           "traces/1/tensor/nothing",
                           "traces/1/tensor/",
                           "traces/1/beam",
                           "run",
                           "run/series",
                           "run/events"}) {
    expect_refused(path, 404);
  }
  expect_refused(std::string(100'000, '/'), 404);
  const std::string long_name(7000, 'x');
  for (const char* before : {"", "traces/", "traces/1/", "traces/1/tensor/", "traces/1/attention/cross/0/0/", "run/"}) {
    expect_refused(before + long_name, 404);
  }
  expect_refused("traces/1/attention/" + long_name + "/overview", 404);
}

TEST_F(InspectorQuestions, NumbersOutsideTheirRange) {
  const std::string head = trace_ + "/attention/cross/0/0/";
  for (const char* rows : {"-1:2", "2:1", "1:1", "0:99", "a:b", ":", "1", "", "0:2:3", "1e9:2", " 0:1"}) {
    expect_refused(head + "weights", 400, {{"rows", rows}});
    expect_refused(head + "scores", 400, {{"rows", rows}});
  }
  expect_refused(head + "cell", 400);
  expect_refused(head + "cell", 400, {{"query", "0"}});
  for (const char* place : {"-1", "9", "x", "", "18446744073709551616"}) {
    expect_refused(head + "cell", 400, {{"query", place}, {"key", "0"}});
    expect_refused(head + "cell", 400, {{"query", "0"}, {"key", place}});
  }
  for (const char* size : {"0", "-4", "257", "x"}) {
    expect_refused(trace_ + "/attention/cross/overview", 400, {{"size", size}});
  }
}

TEST_F(InspectorQuestions, SlicesThatAreNone) {
  const std::string tensor = trace_ + "/tensor/logits";  // [1,3,7]
  for (const char* slice :
       {"0", "0,0,0,0", "-1,0,0", "0,3,0", "0,0,9", "0,2:1,:", "0,:,0:8", "0,::,:", ",,", "a,b,c", "0,0:,:"}) {
    expect_refused(tensor, 400, {{"slice", slice}});
  }
  expect_refused(tensor, 400, {{"as", "f64"}});
  expect_refused(trace_ + "/tensor/loss", 400, {{"slice", "0"}});
}

TEST_F(InspectorQuestions, ASliceThatIsTooLargeForText) {
  std::string long_source, long_target;
  for (int i = 0; i < 130; ++i) long_source += "dogs ", long_target += "hunde ";
  const std::string trace = asking_.trace(long_source, long_target);
  const std::string weights = trace + "/tensor/encoder.layers.0.self_attn.weights";  // [1,2,131,131]
  expect_refused(weights, 413);
  EXPECT_EQ(asking_.ask(weights, {{"slice", "0,0,0:100,:"}}).status, 200);
  EXPECT_EQ(asking_.ask(weights, {{"as", "f32"}}).status, 200);
}

TEST_F(InspectorQuestions, BodiesThatAreNoQuestion) {
  for (const char* body : {"",
                           "{",
                           "[]",
                           "3",
                           "null",
                           "{}",
                           "{\"source\":3}",
                           "{\"source\":\"\"}",
                           "{\"source\":\"  \"}",
                           "{\"source\":\"two\",\"target\":4}",
                           "{\"source\":\"two\",\"beam\":0}",
                           "{\"source\":\"two\",\"beam\":1000}",
                           "{\"source\":\"two\",\"beam\":\"4\"}",
                           "{\"source\":\"two\",\"prefix\":3}",
                           "{\"source\":\"two\",\"prefix\":[\"x\"]}",
                           "{\"source\":\"two\",\"prefix\":[-3]}",
                           "{\"source\":\"two\",\"prefix\":[3]}",
                           "{\"source\":\"two\",\"prefix\":[99999999999]}",
                           "{\"source\":\"two\",\"target\":\"zwei\",\"prefix\":[5]}",
                           "{\"source\":\"\xff\xfe\"}"}) {
    expect_body_refused("traces", body);
  }
  expect_body_refused("traces", "{\"source\":\"" + std::string(10'000'000, 'a') + "\"}", 413);
  std::string words;
  for (int i = 0; i < 5000; ++i) words += "two ";
  expect_body_refused("traces", "{\"source\":\"" + words + "\"}", 413);
  expect_body_refused("traces", std::string(500'000, '['));
  const std::string deep = std::string(400'000, '[') + std::string(400'000, ']');  // more than a stack holds
  for (const char* name : {"prefix", "beam", "target", "source", "other"}) {
    expect_body_refused("traces", std::string("{\"source\":\"two\",\"") + name + "\":" + deep + "}");
  }
  expect_body_refused("traces", "{\"source\":\"two\",\"prefix\":[" + deep + "]}");
  EXPECT_EQ(asking_.json("meta")["traces"].size(), 1u);  // none of them left anything
}

TEST_F(InspectorQuestions, ChangesThatAreNone) {
  const std::string path = trace_ + "/intervene";
  for (const char* body :
       {"", "[]", "{}", "{\"change\":\"explode\"}", "{\"change\":\"drop_head\"}",
        "{\"change\":\"drop_head\",\"kind\":\"cross\",\"layer\":2,\"head\":0}",
        "{\"change\":\"drop_head\",\"kind\":\"cross\",\"layer\":-1,\"head\":0}",
        "{\"change\":\"drop_head\",\"kind\":\"cross\",\"layer\":0.5,\"head\":0}",
        "{\"change\":\"shuffle_positions\",\"side\":\"middle\",\"seed\":1}",
        "{\"change\":\"shuffle_positions\",\"side\":\"source\",\"seed\":-1}",
        "{\"change\":\"shuffle_positions\",\"side\":\"source\"}",
        "{\"change\":\"edit_row\",\"kind\":\"cross\",\"layer\":0,\"head\":0,\"query\":3,\"weights\":[1,0,0,0]}",
        "{\"change\":\"edit_row\",\"kind\":\"cross\",\"layer\":0,\"head\":0,\"query\":0,\"weights\":[1,0,0]}",
        "{\"change\":\"edit_row\",\"kind\":\"cross\",\"layer\":0,\"head\":0,\"query\":0,\"weights\":[1,-1,0,0]}",
        "{\"change\":\"edit_row\",\"kind\":\"cross\",\"layer\":0,\"head\":0,\"query\":0,\"weights\":[0,0,0,0]}",
        "{\"change\":\"edit_row\",\"kind\":\"cross\",\"layer\":0,\"head\":0,\"query\":0,\"weights\":[1e308,1e308,0,0]}",
        "{\"change\":\"edit_row\",\"kind\":\"cross\",\"layer\":0,\"head\":0,\"query\":0,\"weights\":\"all\"}",
        "{\"change\":\"edit_row\",\"kind\":\"decoder\",\"layer\":0,\"head\":0,\"query\":0,\"weights\":[0,1,0]}"}) {
    expect_body_refused(path, body);
  }
  expect_body_refused(trace_ + "/intervene", "{\"change\":\"drop_head\",\"kind\":\"x\",\"layer\":0,\"head\":0}", 404);
  const std::string deep = std::string(400'000, '[') + std::string(400'000, ']');
  expect_body_refused(path, "{\"change\":\"edit_row\",\"weights\":" + deep + "}");
  expect_body_refused("traces/77/intervene", "{}", 404);
  expect_body_refused(trace_, "{}", 404);
}

TEST_F(InspectorQuestions, AModelWithoutMorePositionsSaysSo) {
  Asking asking(PositionKind::learned);  // of 7
  expect_refused(asking.post("traces", "{\"source\":\"two two two two two two two\"}"), 400, "long source");
  EXPECT_EQ(asking.post("traces", "{\"source\":\"two two two\"}").status, 200);
}

}  // namespace
}  // namespace glass
