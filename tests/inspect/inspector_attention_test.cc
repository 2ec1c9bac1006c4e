// What the inspector answers about attention, against explain_model() and Translator::attention().
#include <numeric>

#include "glassformer/decode/translator.h"
#include "glassformer/inspect/explain.h"
#include "inspect/asking.h"

namespace glass {
namespace {

using testing::Asking;
using testing::MatrixFile;
using Json = nlohmann::json;

const std::string source = "two dogs run here", target = "zwei hunde laufen zwei";

struct Stack {
  const char* name;
  AttentionKind kind;
  Dim layers;
};
constexpr Stack stacks[] = {
    {"encoder", AttentionKind::encoder, 1}, {"decoder", AttentionKind::decoder, 2}, {"cross", AttentionKind::cross, 2}};

const HeadMatrix& step(const AttentionExplanation& e, std::string_view name) {
  return *std::find_if(e.steps.begin(), e.steps.end(), [&](const HeadMatrix& m) { return m.name == name; });
}

// Calls `check` for each head with its path and its explanation.
template <class Check>
void for_each_head(Asking& asking, Check check) {
  const std::string trace = asking.trace(source, target);
  for (const Stack& stack : stacks) {
    for (Dim layer = 0; layer < stack.layers; ++layer) {
      for (Dim head = 0; head < 2; ++head) {
        const auto e = explain_model(asking.saved(), source, target, stack.kind, layer, head);
        check(trace + "/attention/" + stack.name + "/" + std::to_string(layer) + "/" + std::to_string(head), e);
      }
    }
  }
}

bool is_masked(const HeadMatrix& m, Dim row, Dim column) { return m.allowed.at({row, column}) == 0; }

// Each cell of the file against the matrix; masked ones are NaN.
void expect_cells(const MatrixFile& file, const HeadMatrix& m, Dim first_row, double tolerance) {
  const auto rows = static_cast<Dim>(file.sizes[0]), columns = static_cast<Dim>(file.sizes[1]);
  ASSERT_EQ(columns, m.values.size(1));
  for (Dim i = 0; i < rows; ++i) {
    for (Dim j = 0; j < columns; ++j) {
      const double cell = file.cells[static_cast<size_t>(i * columns + j)];
      if (is_masked(m, first_row + i, j)) {
        EXPECT_TRUE(std::isnan(cell)) << i << " " << j;
      } else {
        EXPECT_NEAR(cell, m.values.at({first_row + i, j}), tolerance) << i << " " << j;
      }
    }
  }
}

TEST(InspectorAttention, WeightsAreThoseOfTheExplanation) {
  Asking asking;
  for_each_head(asking, [&](const std::string& path, const AttentionExplanation& e) {
    const HeadMatrix& weights = step(e, "weights");
    const MatrixFile bytes = asking.matrix(path + "/weights"),
                     rows = asking.matrix(path + "/weights", {{"rows", "1:3"}});
    EXPECT_EQ(bytes.type, 1);
    EXPECT_EQ(static_cast<Dim>(bytes.sizes[0]), weights.values.size(0));
    expect_cells(bytes, weights, 0, 0.004);
    EXPECT_EQ(rows.type, 2);
    EXPECT_EQ(rows.sizes[0], 2u);
    expect_cells(rows, weights, 1, 1e-6);
  });
}

TEST(InspectorAttention, ScoresAreThoseOfTheExplanation) {
  Asking asking;
  for_each_head(asking, [&](const std::string& path, const AttentionExplanation& e) {
    const HeadMatrix& scores = step(e, "scores");
    const MatrixFile bytes = asking.matrix(path + "/scores"), rows = asking.matrix(path + "/scores", {{"rows", "0:5"}});
    EXPECT_EQ(bytes.type, 3);
    expect_cells(bytes, scores, 0, (static_cast<double>(bytes.high) - static_cast<double>(bytes.low)) / 254);
    expect_cells(rows, scores, 0, 1e-5);
  });
}

TEST(InspectorAttention, StepsSayTheNumbersOfEachMatrix) {
  Asking asking;
  for_each_head(asking, [&](const std::string& path, const AttentionExplanation& e) {
    const Json steps = asking.json(path + "/steps");
    EXPECT_EQ(steps["scale"], e.scale);
    for (const char* name : {"query", "key", "value", "context"}) {
      const Statistics s = statistics_of(step(e, name).values);
      EXPECT_NEAR(steps[name]["max"].get<double>(), s.max, 1e-5) << name;
      EXPECT_NEAR(steps[name]["deviation"].get<double>(), s.deviation(), 1e-5) << name;
    }
    EXPECT_EQ(steps["scores"]["formula"], step(e, "scores").formula);
    EXPECT_LT(steps["difference"].get<double>(), 1e-5);
    const Tensor& weights = step(e, "weights").values;
    EXPECT_EQ(steps["weights"]["shape"].get<std::vector<Dim>>(), (std::vector<Dim>{weights.size(0), weights.size(1)}));
    EXPECT_NEAR(steps["weights"]["max"].get<double>(), statistics_of(weights).max, 1e-6);
  });
}

TEST(InspectorAttention, ACellIsWorkedOutFromItsQueryAndItsKey) {
  Asking asking;
  for_each_head(asking, [&](const std::string& path, const AttentionExplanation& e) {
    const HeadMatrix &scores = step(e, "scores"), &weights = step(e, "weights");
    for (Dim key = 0; key < scores.values.size(1); ++key) {
      const Json cell = asking.json(path + "/cell", {{"query", "2"}, {"key", std::to_string(key)}});
      double dot = 0;
      for (size_t k = 0; k < cell["query"].size(); ++k) {
        dot += cell["query"][k].get<double>() * cell["key"][k].get<double>();
      }
      EXPECT_NEAR(cell["dot"].get<double>(), dot, 1e-9);
      EXPECT_DOUBLE_EQ(cell["score"].get<double>(), dot * cell["scale"].get<double>());
      EXPECT_NEAR(cell["score"].get<double>(), scores.values.at({2, key}), 1e-5);
      EXPECT_NEAR(cell["weight"].get<double>(), weights.values.at({2, key}), 1e-6);
      EXPECT_EQ(cell["allowed"], !is_masked(weights, 2, key));
      if (!cell["allowed"].get<bool>()) {
        EXPECT_EQ(cell["weight"], 0.0);
        EXPECT_TRUE(cell["rank"].is_null());
        continue;
      }
      const double again =
          std::exp(cell["score"].get<double>() - cell["row_max"].get<double>()) / cell["row_sum"].get<double>();
      EXPECT_NEAR(cell["weight"].get<double>(), again, 1e-12);
      Dim larger = 0;
      for (Dim other = 0; other < weights.values.size(1); ++other) {
        larger += weights.values.at({2, other}) > weights.values.at({2, key});
      }
      EXPECT_EQ(cell["rank"], larger + 1);
      for (size_t k = 0; k < cell["context"].size(); ++k) {
        EXPECT_NEAR(cell["context"][k].get<double>(), cell["captured"][k].get<double>(), 1e-5);
      }
    }
  });
}

TEST(InspectorAttention, AnOverviewHoldsTheTranslatorsWeights) {
  Asking asking;
  const std::string trace = asking.trace(source, target);
  const Translator translator(load_translation(asking.json("meta")["model"]["path"]), Weights::exact);
  const AttentionMaps maps = translator.attention(source, target);
  const MatrixFile overview = asking.matrix(trace + "/attention/cross/overview");
  EXPECT_EQ(overview.sizes, (std::vector<uint32_t>{2, 2, 5, 5}));
  for (const AttentionMap& map : maps.maps) {
    if (!map.path.ends_with("cross_attn")) continue;
    const auto layer = static_cast<size_t>(map.path[std::string("decoder.layers.").size()] - '0');
    const std::vector<double> weights = map.weights.to_vector();  // [H,T,S]
    for (size_t i = 0; i < weights.size(); ++i) EXPECT_NEAR(overview.cells[layer * 50 + i], weights[i], 0.004);
  }
}

TEST(InspectorAttention, AnOverviewKeepsTheLargestCell) {
  Asking asking;
  const std::string trace = asking.trace(source, target);
  const MatrixFile whole = asking.matrix(trace + "/attention/decoder/overview");  // [2,2,5,5]
  const MatrixFile small = asking.matrix(trace + "/attention/decoder/overview", {{"size", "2"}});
  EXPECT_EQ(small.sizes, (std::vector<uint32_t>{2, 2, 2, 2}));
  for (size_t head = 0; head < 4; ++head) {
    std::vector<double> largest(4, -1);
    for (size_t i = 0; i < 5; ++i) {
      for (size_t j = 0; j <= i; ++j) {  // what comes later is masked
        double& block = largest[i * 2 / 5 * 2 + j * 2 / 5];
        block = std::max(block, whole.cells[head * 25 + i * 5 + j]);
      }
    }
    for (size_t cell = 0; cell < 4; ++cell) {
      if (largest[cell] < 0) {
        EXPECT_TRUE(std::isnan(small.cells[head * 4 + cell]));
      } else {
        EXPECT_EQ(small.cells[head * 4 + cell], largest[cell]);
      }
    }
  }
}

TEST(InspectorAttention, MeasuresAreThoseOfTheWeights) {
  Asking asking;
  const std::string trace = asking.trace(source, target);
  for (const Stack& stack : stacks) {
    const Json heads = asking.json(trace + "/attention/" + stack.name + "/measures")["heads"];
    ASSERT_EQ(heads.size(), static_cast<size_t>(stack.layers * 2));
    for (const Json& head : heads) {
      const auto e = explain_model(asking.saved(), source, target, stack.kind, head["layer"], head["head"]);
      const HeadMatrix& m = step(e, "weights");
      const Dim rows = m.values.size(0), columns = m.values.size(1);
      double entropy = 0, near = 0, first = 0, largest = 0;
      Dim with_choice = 0;
      for (Dim i = 0; i < rows; ++i) {
        double row_entropy = 0, row_largest = 0;
        Dim allowed = 0;
        for (Dim j = 0; j < columns; ++j) {
          const double p = m.values.at({i, j});
          allowed += !is_masked(m, i, j);
          if (p > 0) row_entropy -= p * std::log(p);
          if (std::abs(static_cast<double>(j) -
                       static_cast<double>(i * (columns - 1)) / static_cast<double>(rows - 1)) <= 1)
            near += p;
          row_largest = std::max(row_largest, p);
        }
        if (allowed > 1) entropy += row_entropy / std::log(static_cast<double>(allowed));
        with_choice += allowed > 1;
        first += m.values.at({i, 0});
        largest += row_largest;
      }
      EXPECT_NEAR(head["entropy"].get<double>(), entropy / static_cast<double>(with_choice), 1e-5);
      EXPECT_NEAR(head["diagonality"].get<double>(), near / static_cast<double>(rows), 1e-5);
      EXPECT_NEAR(head["first"].get<double>(), first / static_cast<double>(rows), 1e-5);
      EXPECT_NEAR(head["largest"].get<double>(), largest / static_cast<double>(rows), 1e-5);
    }
  }
}

// A damaged model looks damaged: not certain of its keys, and not masked.
TEST(InspectorAttention, NaNIsNoNumber) {
  SavedTranslation saved = testing::small_saved();
  saved.model->encoder.layers[0].self_attn.key.weight.fill(std::nanf(""));
  testing::Folder folder;
  const std::string path = folder.file("model.safetensors");
  write_safetensors(path, translation_contents(*saved.model, *saved.source, *saved.target, {}));
  Inspector inspector({"", path, {}});
  ASSERT_EQ(inspector.answer({"POST", "traces", {}, "{\"source\":\"two dogs\",\"target\":\"zwei\"}"}).status, 200);
  const std::string attention = "traces/1/attention/encoder/";
  const Json measures = Json::parse(inspector.answer({"GET", attention + "measures", {}, {}}).body)["heads"][0];
  for (const char* name : {"entropy", "diagonality", "first", "largest"}) EXPECT_EQ(measures[name], "NaN") << name;
  const Json cell =
      Json::parse(inspector.answer({"GET", attention + "0/0/cell", {{"query", "0"}, {"key", "1"}}, {}}).body);
  EXPECT_EQ(cell["weight"], "NaN");
  EXPECT_EQ(cell["rank"], nullptr);
  for (const double p : testing::matrix_of(inspector.answer({"GET", attention + "overview", {}, {}}).body).cells) {
    EXPECT_EQ(p, 0);
  }
}

TEST(InspectorAttention, ATraceSaysWhichAttentionsThereAre) {
  Asking asking;
  const Json attentions = asking.json(asking.trace("two dogs", target))["attentions"];
  ASSERT_EQ(attentions.size(), 3u);
  const Json& cross = attentions[2];
  EXPECT_EQ(cross["kind"], "cross");
  EXPECT_EQ(cross["layers"], 2);
  EXPECT_EQ(cross["heads"], 2);
  EXPECT_EQ(cross["rows"], 5);
  EXPECT_EQ(cross["columns"], 3);
  EXPECT_EQ(cross["causal"], false);
  EXPECT_EQ(cross["scale"], 0.5);  // heads of width 4
  EXPECT_EQ(attentions[1]["causal"], true);
}

}  // namespace
}  // namespace glass
