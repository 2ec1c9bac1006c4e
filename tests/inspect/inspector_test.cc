#include "glassformer/inspect/inspector.h"

#include <algorithm>
#include <thread>

#include "glassformer/autograd/ops.h"
#include "glassformer/base/error.h"
#include "glassformer/decode/search.h"
#include "inspect/asking.h"

namespace glass {
namespace {

using testing::Asking;
using Json = nlohmann::json;

TEST(Inspector, SaysWhatItLooksAt) {
  Asking asking;
  const Json meta = asking.json("meta");
  EXPECT_EQ(meta["api"], 1);
  EXPECT_EQ(meta["program"], "glassformer test");
  EXPECT_EQ(meta["model"]["task"], "translate");
  EXPECT_EQ(meta["model"]["step"], 7);
  EXPECT_EQ(meta["model"]["config"]["heads"], 2);
  EXPECT_EQ(meta["model"]["config"]["source_vocab"], 8);
  EXPECT_TRUE(meta["run"].is_null());
  EXPECT_TRUE(meta["traces"].empty());
  asking.trace();
  EXPECT_EQ(asking.json("meta")["traces"], Json::parse("[\"1\"]"));
}

Dim count_of(const Json& module) {
  Dim count = 0;
  for (const Json& parameter : module["parameters"]) {
    Dim product = 1;
    for (const Json& size : parameter["shape"]) product *= size.get<Dim>();
    count += product;
  }
  for (const Json& child : module["children"]) count += count_of(child);
  return count;
}

TEST(Inspector, TheTreeOfModulesHoldsEachParameter) {
  Asking asking;
  const Json root = asking.json("model");
  EXPECT_EQ(root["path"], "");
  EXPECT_EQ(root["kind"], "TranslationModel");
  EXPECT_EQ(root["count"], count_of(root));  // nothing is tied in this one
  EXPECT_EQ(root["count"], asking.json("meta")["model"]["parameters"]);
}

TEST(Inspector, DiagnosesTheModel) {
  Asking asking;
  EXPECT_TRUE(asking.json("findings").contains("healthy"));
}

// --- a trace

TEST(Inspector, ATraceHasThePairsTokensWithTheirBytes) {
  Asking asking;
  const Json trace = asking.json(asking.trace(" two  dogs", "zwei hunde"));
  EXPECT_EQ(trace["id"], "1");
  EXPECT_EQ(trace["source"], " two  dogs");
  const Json& source = trace["source_tokens"];
  ASSERT_EQ(source.size(), 3u);
  EXPECT_EQ(source[0]["piece"], "two");
  EXPECT_EQ(source[0]["bytes"], Json::parse("[1,4]"));
  EXPECT_EQ(source[1]["bytes"], Json::parse("[6,10]"));
  EXPECT_EQ(source[2]["id"], eos_token);
  EXPECT_TRUE(source[2]["bytes"].is_null());
  const Json& target = trace["target_tokens"];
  ASSERT_EQ(target.size(), 3u);
  EXPECT_EQ(target[0]["id"], bos_token);
  EXPECT_TRUE(target[0]["bytes"].is_null());
  EXPECT_EQ(target[2]["bytes"], Json::parse("[5,10]"));
}

TEST(Inspector, PredictionsAreTheModelsOwn) {
  Asking asking;
  const Json trace = asking.json(asking.trace());
  const PairTokens pair = tokens_of_pair(asking.saved(), "two dogs run", "zwei hunde");
  const Tensor log_p =
      log_softmax((*asking.saved().model)(pair.source, pair.source_lengths, pair.target_input));  // [1,T,V]
  double loss = 0;
  for (Dim t = 0; t < 3; ++t) {
    const Json& row = trace["predictions"][static_cast<size_t>(t)];
    const auto label = static_cast<Dim>(pair.target_output.at({0, t}));
    EXPECT_EQ(row["id"], label);
    const double own = log_p.at({0, t, label});
    EXPECT_NEAR(row["log_p"].get<double>(), own, 1e-5);
    loss -= own / 3;
    std::vector<double> all = log_p.narrowed(1, t, t + 1).to_vector();
    EXPECT_EQ(row["rank"], 1 + std::count_if(all.begin(), all.end(), [&](double x) { return x > own; }));
    std::sort(all.begin(), all.end(), std::greater<>());
    ASSERT_EQ(row["top"].size(), 5u);
    for (size_t i = 0; i < 5; ++i) EXPECT_NEAR(row["top"][i]["p"].get<double>(), std::exp(all[i]), 1e-6);
  }
  EXPECT_NEAR(trace["loss"].get<double>(), loss, 1e-5);
}

TEST(Inspector, FlowIsTheNormOfWhatEachSublayerAdds) {
  Asking asking;
  const Json trace = asking.json(asking.trace());
  const Json& flow = trace["flow"];
  ASSERT_EQ(flow.size(), 2u + 2 * 3);  // one encoder layer of two, two decoder layers of three
  EXPECT_EQ(flow[3]["stack"], "decoder");
  EXPECT_EQ(flow[3]["sublayer"], "cross_attn");
  Trace own;
  trace_pair(*asking.saved().model, tokens_of_pair(asking.saved(), "two dogs run", "zwei hunde"), own);
  const Tensor added = own.at("decoder.layers.0.cross_attn_residual.contribution");  // [1,T,D]
  double norm = 0, mean = 0;
  for (Dim i = 0; i < added.size(2); ++i) norm += std::pow(added.at({0, 1, i}), 2);
  EXPECT_NEAR(flow[3]["contributions"][1].get<double>(), std::sqrt(norm), 1e-6);
  for (const Json& one : flow[3]["contributions"]) mean += one.get<double>() / 3;
  EXPECT_NEAR(flow[3]["contribution"].get<double>(), mean, 1e-9);
  EXPECT_EQ(flow[3]["streams"].size(), 3u);
}

TEST(Inspector, EachTensorIsListedAndCanBeHad) {
  Asking asking;
  const std::string path = asking.trace();
  Trace own;
  trace_pair(*asking.saved().model, tokens_of_pair(asking.saved(), "two dogs run", "zwei hunde"), own);
  const Json trace = asking.json(path);
  ASSERT_EQ(trace["tensors"].size(), own.entries().size());
  for (const Json& tensor : trace["tensors"]) {
    const Tensor value = own.at(tensor["path"]);
    EXPECT_EQ(tensor["shape"].get<std::vector<Dim>>(), std::vector<Dim>(value.shape().begin(), value.shape().end()));
    EXPECT_EQ(tensor["max"].get<double>(), statistics_of(value).max) << tensor["path"];
    const Json whole = asking.json(path + "/tensor/" + tensor["path"].get<std::string>());
    const std::vector<double> wanted = value.to_vector(), got = whole["values"];
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-6) << tensor["path"];
  }
}

TEST(Inspector, ASliceOfATensor) {
  Asking asking;
  const std::string path = asking.trace();
  Trace own;
  trace_pair(*asking.saved().model, tokens_of_pair(asking.saved(), "two dogs run", "zwei hunde"), own);
  const std::string name = "decoder.layers.1.cross_attn.weights";  // [1,2,3,4]
  const Json part = asking.json(path + "/tensor/" + name, {{"slice", "0,1,:,2:4"}});
  EXPECT_EQ(part["shape"], Json::parse("[1,2,3,4]"));
  EXPECT_EQ(part["slice"], Json::parse("[3,2]"));
  EXPECT_NEAR(part["values"][3].get<double>(), own.at(name).at({0, 1, 1, 3}), 1e-6);
  const auto file = asking.matrix(path + "/tensor/" + name, {{"slice", "0,1,:,2:4"}, {"as", "f32"}});
  EXPECT_EQ(file.sizes, (std::vector<uint32_t>{3, 2}));
  EXPECT_NEAR(file.cells[3], part["values"][3].get<double>(), 1e-6);
  EXPECT_EQ(asking.json(path + "/tensor/loss")["values"].size(), 1u);  // no axis, no slice
}

// --- searching

TEST(Inspector, WithoutATargetItIsTheBestOfTheBeam) {
  Asking asking;
  const std::string path =
      "traces/" + asking.posted("traces", {{"source", "two dogs"}, {"beam", 3}})["id"].get<std::string>();
  const Json trace = asking.json(path), beam = asking.json(path + "/beam");
  EXPECT_EQ(beam["beam"], 3);
  EXPECT_EQ(beam["length_norm"], "average");
  EXPECT_EQ(trace["target"], beam["best"][0]["text"]);
  const PairTokens pair = tokens_of_pair(asking.saved(), "two dogs", "");
  SearchOptions options;
  options.beam = options.nbest = 3;
  const auto best = search(*asking.saved().model, pair.source, pair.source_lengths, options)[0];
  ASSERT_EQ(beam["best"].size(), best.size());
  for (size_t i = 0; i < best.size(); ++i) {
    EXPECT_EQ(beam["best"][i]["text"], asking.saved().target->decode(best[i].tokens));
    EXPECT_DOUBLE_EQ(beam["best"][i]["score"].get<double>(), best[i].score);
  }
}

TEST(Inspector, TheBeamsNodesAreATreeThatTheBestAreInside) {
  Asking asking;
  const Json beam = asking.json(
      "traces/" + asking.posted("traces", {{"source", "two dogs"}, {"beam", 3}})["id"].get<std::string>() + "/beam");
  const Json& nodes = beam["nodes"];
  for (size_t id = 0; id < nodes.size(); ++id) {
    const Json& node = nodes[id];
    EXPECT_EQ(node["id"], id);
    if (node["parent"] == -1) {
      EXPECT_EQ(node["step"], 0);
      EXPECT_EQ(node["total"], node["log_p"]);
      continue;
    }
    const Json& parent = nodes[node["parent"].get<size_t>()];
    EXPECT_EQ(parent["state"], "live");
    EXPECT_EQ(node["step"], parent["step"].get<int>() + 1);
    EXPECT_NEAR(node["total"].get<double>(), parent["total"].get<double>() + node["log_p"].get<double>(), 1e-6);
  }
  for (const Json& best : beam["best"]) {
    ASSERT_FALSE(best["nodes"].empty());
    const Json& last = nodes[best["nodes"].back().get<size_t>()];
    EXPECT_EQ(last["state"], "finished");
    EXPECT_DOUBLE_EQ(last["score"].get<double>(), best["score"].get<double>());
  }
}

TEST(Inspector, APrefixIsWhatTheTargetBeginsWith) {
  Asking asking;
  const int32_t word = asking.saved().target->encode("laufen")[0];
  const auto made = asking.posted("traces", {{"source", "two dogs"}, {"prefix", {word, word}}});
  const Json trace = asking.json("traces/" + made["id"].get<std::string>());
  EXPECT_EQ(trace["target_tokens"][1]["id"], word);
  EXPECT_EQ(trace["target_tokens"][2]["id"], word);
}

TEST(Inspector, ForgetsTheOldestOfManyTraces) {
  Asking asking;
  for (int i = 0; i < 20; ++i) asking.trace();
  EXPECT_EQ(asking.json("meta")["traces"].size(), 16u);
  EXPECT_EQ(asking.ask("traces/1").status, 404);
  EXPECT_EQ(asking.ask("traces/20").status, 200);
}

TEST(Inspector, AnswersSeveralThreadsAtOnce) {
  Asking asking;
  const std::string path = asking.trace();
  const std::string weights = asking.ask(path + "/attention/cross/0/0/weights").body;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 3; ++turn) {
        asking.posted(path + "/intervene", {{"change", "drop_head"}, {"kind", "cross"}, {"layer", 0}, {"head", 0}});
        EXPECT_EQ(asking.ask(path + "/attention/cross/0/0/weights").body, weights);
        EXPECT_EQ(asking.json("meta")["traces"].size(), 1u);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Inspector, WithoutAModelOrARunItSaysSo) {
  Inspector inspector({"glassformer test", {}, {}});
  EXPECT_EQ(inspector.answer({"GET", "meta", {}, {}}).status, 200);
  for (const char* path : {"model", "findings", "run/series", "run/findings", "traces/1"}) {
    EXPECT_EQ(inspector.answer({"GET", path, {}, {}}).status, 404) << path;
  }
  EXPECT_EQ(inspector.answer({"POST", "traces", {}, "{\"source\":\"a\"}"}).status, 404);
  EXPECT_THROW(Inspector({"", "nowhere.safetensors", {}}), InputError);
  EXPECT_THROW(Inspector({"", {}, "nowhere"}), InputError);
}

}  // namespace
}  // namespace glass
