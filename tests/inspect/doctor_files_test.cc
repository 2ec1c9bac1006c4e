// Checks of text, of a run's history and of what a step costs.
#include <gtest/gtest.h>

#include <cmath>

#include "data/files.h"
#include "glassformer/base/error.h"
#include "glassformer/inspect/cost_checks.h"
#include "glassformer/inspect/data_checks.h"
#include "glassformer/inspect/finding_report.h"
#include "glassformer/inspect/history_checks.h"
#include "inspect/doctor_testing.h"

namespace glass {
namespace {

using test::names;

// 200 pairs that differ, of 4 to 8 words.
ParallelText clean_text(const std::string& mark = "") {
  ParallelText text;
  for (int i = 0; i < 200; ++i) {
    std::string source = mark + "s" + std::to_string(i), target = mark + "t" + std::to_string(i);
    for (int word = 0; word < 3 + i % 5; ++word) {
      source += " one";
      target += " eins";
    }
    text.source.push_back(source);
    text.target.push_back(target);
  }
  return text;
}

TEST(DoctorData, CleanTextGivesNothing) {
  EXPECT_TRUE(check_pairs(clean_text()).empty()) << findings_text(check_pairs(clean_text()));
  EXPECT_TRUE(check_split(clean_text(), clean_text("other ")).empty());
}

TEST(DoctorData, UnequalLines) {
  const TemporaryFolder folder;
  const std::string three = folder.put("a", "x\ny\nz\n"), two = folder.put("b", "x\ny\n");
  EXPECT_TRUE(check_line_counts(three, three).empty());
  const Findings findings = check_line_counts(three, two);
  EXPECT_EQ(names(findings), "unequal lines");
  EXPECT_EQ(findings[0].evidence[0].measured, 3);
}

TEST(DoctorData, Duplicates) {
  ParallelText text = clean_text();
  for (size_t i = 0; i < 30; ++i) {
    text.source.push_back(text.source[i]);
    text.target.push_back(text.target[i]);
  }
  EXPECT_EQ(names(check_pairs(text)), "duplicates");
}

TEST(DoctorData, EmptyLinesAreANote) {
  ParallelText text = clean_text();
  text.target[7] = " ";
  EXPECT_EQ(names(check_pairs(text)), "empty lines");
  EXPECT_FALSE(has_faults(check_pairs(text)));
}

TEST(DoctorData, UntranslatedLines) {
  ParallelText text = clean_text();
  for (size_t i = 0; i < 20; ++i) text.target[i] = text.source[i];
  EXPECT_EQ(names(check_pairs(text)), "untranslated lines");
}

TEST(DoctorData, LengthOutliers) {
  ParallelText text = clean_text();
  for (const size_t line : {10, 20}) text.target[line] += std::string(400, 'x');
  const Findings findings = check_pairs(text);
  EXPECT_EQ(names(findings), "length outliers");
  EXPECT_EQ(findings[0].places, (std::vector<std::string>{"line 11", "line 21"}));
}

TEST(DoctorData, SplitLeak) {
  ParallelText valid = clean_text("other ");
  for (size_t i = 0; i < 5; ++i) valid.source[i] = clean_text().source[i];
  const Findings findings = check_split(clean_text(), valid);
  EXPECT_EQ(names(findings), "split leak");
  EXPECT_EQ(findings[0].places.size(), 5u);
}

TEST(DoctorData, UnknownCharacters) {
  VocabularyOptions options;
  options.model = "char";
  options.min_frequency = 1;
  const auto vocabulary = train_vocabulary(clean_text().source, options);
  EXPECT_TRUE(check_unknown(clean_text().source, *vocabulary, "training").empty());
  const Findings findings = check_unknown({"one one", "жук"}, *vocabulary, "validation");
  EXPECT_EQ(names(findings), "unknown characters");
  EXPECT_EQ(findings[0].places, std::vector<std::string>{"line 2"});
  EXPECT_TRUE(has_faults(findings));
}

// --- a run's history

// 2000 updates: training falls towards `floor`, validation is `valid(step)`.
template <class Valid>
std::vector<StepMetrics> history_of(double floor, Valid valid) {
  std::vector<StepMetrics> history;
  for (int64_t step = 50; step <= 2000; step += 50) {
    StepMetrics m;
    m.step = step;
    m.nll = floor + (8 - floor) * std::exp(-static_cast<double>(step) / 400);
    m.loss = *m.nll + 0.3 + 0.05 * std::sin(static_cast<double>(step));  // batches differ
    m.grad_norm = 1 + 0.3 * std::cos(static_cast<double>(step));
    history.push_back(m);
    if (step % 200 != 0) continue;
    StepMetrics v;
    v.step = step;
    v.valid_nll = valid(static_cast<double>(step));
    history.push_back(v);
  }
  return history;
}

std::vector<StepMetrics> healthy_history() {
  return history_of(1.5, [](double step) { return 2 + 6 * std::exp(-step / 400); });
}

TEST(DoctorHistory, AHealthyRunGivesNothing) {
  EXPECT_TRUE(check_overfitting(healthy_history()).empty());
  EXPECT_TRUE(check_loss_history(healthy_history()).empty()) << findings_text(check_loss_history(healthy_history()));
}

TEST(DoctorHistory, Overfitting) {
  const auto history = history_of(0.2, [](double step) { return 3 + std::abs(step - 800) / 800; });
  const Findings findings = check_overfitting(history);
  EXPECT_EQ(names(findings), "overfitting");
  EXPECT_EQ(findings[0].step, 800);
}

TEST(DoctorHistory, Spikes) {
  auto history = healthy_history();
  history[30].loss = 7;
  history[30].grad_norm = 40;
  const Findings findings = check_loss_history(history);
  EXPECT_EQ(names(findings), "loss spikes");
  EXPECT_EQ(findings[0].also, std::vector<std::string>{"exploding gradients"});
  EXPECT_EQ(findings[0].step, history[30].step);
}

TEST(DoctorHistory, BatchesOfDifferentLengthsAreNoSpikes) {
  auto history = healthy_history();
  for (size_t i = 0; i < history.size(); ++i) {
    if (history[i].loss) *history[i].loss += i % 3 == 0 ? 2 : 0;
  }
  EXPECT_TRUE(check_loss_history(history).empty()) << findings_text(check_loss_history(history));
}

TEST(DoctorHistory, Divergence) {
  auto history = healthy_history();
  for (StepMetrics& m : history) {
    if (m.loss && m.step > 1500) *m.loss += 5;
  }
  const Findings findings = check_loss_history(history);
  EXPECT_EQ(names(findings), "divergence");
  EXPECT_EQ(findings[0].step, 1500);
}

TEST(DoctorHistory, ExplodingGradients) {
  auto history = healthy_history();
  history[30].grad_norm = 40;
  EXPECT_EQ(names(check_loss_history(history)), "exploding gradients");
}

TEST(DoctorHistory, NoProgress) {
  auto history = healthy_history();
  for (StepMetrics& m : history) {
    if (m.loss) m.loss = 8.0;
  }
  EXPECT_EQ(names(check_loss_history(history)), "no progress");
}

// Two layers whose updates are `ratio` of their weights, the second one's three times as large.
std::vector<StepMetrics> history_with_updates(double ratio) {
  auto history = healthy_history();
  for (StepMetrics& m : history) {
    if (m.loss) m.lr = 1e-3;
    if (m.loss) m.parts = {{"encoder.layers.0", 1, ratio}, {"encoder.layers.1", 1, 3 * ratio}};
  }
  return history;
}

TEST(DoctorHistory, UpdatesOfTheUsualSizeGiveNothing) {
  for (const double ratio : {1e-4, 1e-3, 6e-3}) EXPECT_TRUE(check_update_sizes(history_with_updates(ratio)).empty());
  EXPECT_TRUE(check_update_sizes(healthy_history()).empty());  // a run that did not record them
  auto resting = history_with_updates(0);
  for (StepMetrics& m : resting) {
    if (m.lr) m.lr = 0;
  }
  EXPECT_TRUE(check_update_sizes(resting).empty());
}

TEST(DoctorHistory, UpdatesThatAreTooLargeInOnePart) {
  const Findings findings = check_update_sizes(history_with_updates(0.01));
  EXPECT_EQ(names(findings), "update size");
  EXPECT_EQ(findings[0].places, std::vector<std::string>{"encoder.layers.1"});
  EXPECT_NEAR(findings[0].evidence[0].measured, 0.03, 1e-12);
}

TEST(DoctorHistory, UpdatesThatAreTooSmallEverywhere) {
  EXPECT_EQ(names(check_update_sizes(history_with_updates(1e-6))), "update size");
  auto history = history_with_updates(1e-6);
  for (StepMetrics& m : history) {
    if (m.lr) m.parts[1].update_ratio = 1e-3;
  }
  EXPECT_TRUE(check_update_sizes(history).empty());  // one part may rest
}

TEST(DoctorHistory, PartsAreReadFromAFile) {
  const TemporaryFolder folder;
  const auto history = read_metrics(folder.put(
      "metrics.jsonl",
      R"({"step":5,"loss":2,"lr":0.1,"grad_norm":3,"grad_norm.encoder.layers.0":2,"update_ratio.encoder.layers.0":0.5})"
      "\n"));
  ASSERT_EQ(history[0].parts.size(), 1u);
  EXPECT_EQ(history[0].parts[0].part, "encoder.layers.0");
  EXPECT_EQ(history[0].parts[0].grad_norm, 2);
  EXPECT_EQ(history[0].parts[0].update_ratio, 0.5);
  EXPECT_EQ(*history[0].grad_norm, 3);
}

TEST(DoctorHistory, IsReadFromAFile) {
  const TemporaryFolder folder;
  const auto history = read_metrics(
      folder.put("metrics.jsonl", "{\"step\":1,\"loss\":2.5,\"other\":1}\n{\"step\":2,\"valid_nll\":3}\n{\"st"));
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[0].loss, 2.5);
  EXPECT_FALSE(history[1].loss);
  EXPECT_EQ(history[1].valid_nll, 3.0);
  EXPECT_THROW(read_metrics(folder.path("none")), InputError);
  EXPECT_THROW(read_metrics(folder.put("empty", "\n")), InputError);
  EXPECT_THROW(read_metrics(folder.put("damaged", "no json\n{\"step\":2,\"loss\":3}\n")), InputError);
}

// --- cost

TEST(DoctorCost, LongInputsAreWarnedOf) {
  TransformerConfig config;
  config.source_vocabulary = config.target_vocabulary = 8000;
  constexpr double available = 16e9;
  EXPECT_TRUE(check_memory(config, {30, 100, 100}, available).empty());
  const Findings findings = check_memory(config, {30, 2000, 2000}, available);
  EXPECT_EQ(names(findings), "memory");
  EXPECT_NE(findings[0].what.find("T²"), std::string::npos);
  EXPECT_EQ(names(check_memory(config, {3000, 100, 100}, available)), "memory");
}

TEST(DoctorCost, GrowsWithTheSquareOfTheLength) {
  const TransformerConfig config;
  const StepMemory one = predict_memory(config, {1, 500, 500}), two = predict_memory(config, {1, 1000, 1000});
  EXPECT_DOUBLE_EQ(two.attention, 4 * one.attention);
  EXPECT_DOUBLE_EQ(two.activations, 2 * one.activations);
  EXPECT_EQ(two.parameters, one.parameters);
}

}  // namespace
}  // namespace glass
