#include "glassformer/inspect/data_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace glass {

namespace {

Finding data_finding(const char* check, std::string what, Evidence evidence, const char* cause, const char* remedy) {
  Finding f;
  f.check = check;
  f.what = std::move(what);
  f.evidence = {std::move(evidence)};
  f.cause = cause;
  f.remedy = remedy;
  f.certainty = Certainty::certain;
  return f;
}

int64_t count_lines(const std::string& path) {
  LineReader reader(path, InvalidUtf8::replace);
  std::string line;
  int64_t count = 0;
  while (reader.next(line)) ++count;
  return count;
}

// The first ones: a corpus may have a million.
std::vector<std::string> line_names(const std::vector<int64_t>& lines) {
  constexpr size_t most = 100;
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(most, lines.size()); ++i) names.push_back(fmt::format("line {}", lines[i]));
  return names;
}

}  // namespace

Findings check_line_counts(const std::string& source_path, const std::string& target_path) {
  const int64_t source = count_lines(source_path), target = count_lines(target_path);
  if (source == target) return {};
  Finding f =
      data_finding("unequal lines", "source and target have different numbers of lines: they are not aligned",
                   {"lines of the source", static_cast<double>(source), fmt::format("{}, the target's", target)},
                   "a line lost or broken in two on one side; everything after it is paired wrongly",
                   "make both files again from one place; do not cut the longer one");
  f.places = {source_path, target_path};
  return {f};
}

Findings check_pairs(const ParallelText& training) {
  const PairStatistics s = inspect_pairs(training);
  const auto share = [&](int64_t count) {
    return static_cast<double>(count) / static_cast<double>(std::max<int64_t>(1, s.pairs));
  };
  Findings findings;
  if (share(s.duplicate_pairs) > 0.05) {
    findings.push_back(data_finding("duplicates",
                                    fmt::format("{} of {} pairs are repetitions", s.duplicate_pairs, s.pairs),
                                    {"share of repeated pairs", share(s.duplicate_pairs), "under 0.05"},
                                    "a corpus put together from overlapping ones", "keep one of each"));
  }
  if (s.empty_sources + s.empty_targets > 0) {
    findings.push_back(data_finding("empty lines", "pairs with an empty side, which are skipped",
                                    {"empty sides", static_cast<double>(s.empty_sources + s.empty_targets), "0"},
                                    "lines without a translation", "remove them, on both sides"));
    findings.back().severity = Severity::note;
  }
  if (share(s.copies) > 0.05) {
    findings.push_back(data_finding("untranslated lines", fmt::format("{} pairs have equal sides", s.copies),
                                    {"share of copies", share(s.copies), "under 0.05"},
                                    "lines that were left untranslated; the model learns to copy", "remove them"));
  }
  if (share(static_cast<int64_t>(s.length_outliers.size())) > 0.005) {
    findings.push_back(data_finding(
        "length outliers", fmt::format("{} pairs have sides of very different lengths", s.length_outliers.size()),
        {"share of outliers", share(static_cast<int64_t>(s.length_outliers.size())), "under 0.005"},
        "sentences paired with others' translations, or several in one line", "read some of them; remove or re-align"));
    findings.back().places = line_names(s.length_outliers);
    findings.back().certainty = Certainty::likely;
  }
  return findings;
}

Findings check_split(const ParallelText& training, const ParallelText& validation) {
  std::unordered_set<std::string> pairs, sources;
  for (size_t i = 0; i < training.size(); ++i) {
    pairs.insert(training.source[i] + '\n' + training.target[i]);
    sources.insert(training.source[i]);
  }
  double both = 0, source = 0;
  std::vector<int64_t> lines;
  for (size_t i = 0; i < validation.size(); ++i) {
    both += static_cast<double>(pairs.count(validation.source[i] + '\n' + validation.target[i]));
    if (sources.count(validation.source[i]) == 0) continue;
    ++source;
    lines.push_back(static_cast<int64_t>(i) + 1);
  }
  const auto all = static_cast<double>(std::max<size_t>(1, validation.size()));
  if (source / all <= 0.01) return {};  // short sentences come twice by chance
  Finding f = data_finding("split leak", fmt::format("{} of {} validation sources stand in training", source, all),
                           {"share of validation sources in training", source / all, "under 0.01"},
                           "a split by lines of a corpus that repeats itself",
                           "split by distinct sentence (data.valid_fraction does), or take them out of training");
  f.evidence.push_back({"share of whole pairs in training", both / all, "0"});
  f.places = line_names(lines);
  return {f};
}

Findings check_unknown(const std::vector<std::string>& lines, const Vocabulary& vocabulary, const std::string& what) {
  double unknown = 0, tokens = 0;
  std::vector<int64_t> places;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::vector<int32_t> ids = vocabulary.encode(lines[i]);
    const auto count = std::count(ids.begin(), ids.end(), unknown_token);
    tokens += static_cast<double>(ids.size());
    unknown += static_cast<double>(count);
    if (count > 0) places.push_back(static_cast<int64_t>(i) + 1);
  }
  if (tokens == 0 || unknown / tokens <= 0.01) return {};
  Finding f = data_finding("unknown characters", what + ": the vocabulary does not know a part of the text",
                           {"share of unknown tokens", unknown / tokens, "under 0.01"},
                           "another language or script than it was trained on, or a vocabulary that is too small",
                           "train the vocabulary on all of it; raise data.vocab_size or character_coverage");
  f.places = line_names(places);
  // A vocabulary of words never knows them all; of pieces or characters it should.
  if (unknown / tokens < 0.1) f.severity = Severity::note;
  return {f};
}

}  // namespace glass
