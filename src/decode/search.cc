#include "glassformer/decode/search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "decode/search_options.h"
#include "glassformer/base/error.h"
#include "glassformer/data/vocabulary.h"

namespace glass {

LengthNorm length_norm_from_name(const std::string& name) {
  if (name == "none") return LengthNorm::none;
  if (name == "average") return LengthNorm::average;
  if (name == "gnmt") return LengthNorm::gnmt;
  throw InputError("length norm: unknown \"" + name + "\"; use none, average or gnmt");
}

namespace {

double length_divisor(const SearchOptions& options, int64_t length) {
  const auto tokens = static_cast<double>(length);
  switch (options.length_norm) {
    case LengthNorm::none:
      return 1;
    case LengthNorm::average:
      return std::pow(tokens, options.alpha);
    case LengthNorm::gnmt:
      return std::pow((5 + tokens) / 6, options.alpha);
  }
  return 1;
}

// A hypothesis that may still grow; its row in the decoder's batch is its place in the list of all.
struct Live {
  std::vector<int32_t> tokens;
  std::vector<float> log_probabilities;
  double total = 0;
};

struct Sentence {
  size_t index = 0;  // row of the caller's batch
  int64_t max_length = 0;
  std::vector<Live> live;
  std::vector<Hypothesis> finished;  // best first, at most `beam`
};

using Candidate = SearchCandidate;  // its parent within the sentence's live hypotheses

// Higher first; of equals the earlier hypothesis, then the lower token.
bool better(const Candidate& a, const Candidate& b) {
  if (a.total != b.total) return a.total > b.total;
  return std::pair(a.parent, a.token) < std::pair(b.parent, b.token);
}

// The best extensions of one sentence's hypotheses, at most `most` of them.
class Candidates {
 public:
  explicit Candidates(size_t most) : most_(most) {}

  void add(const Candidate& candidate) {
    if (heap_.size() == most_ && !better(candidate, heap_.front())) return;
    heap_.push_back(candidate);
    std::push_heap(heap_.begin(), heap_.end(), better);  // the worst in front
    if (heap_.size() <= most_) return;
    std::pop_heap(heap_.begin(), heap_.end(), better);
    heap_.pop_back();
  }
  // What a total has to reach to be among them.
  double least() const { return heap_.size() < most_ ? -std::numeric_limits<double>::infinity() : heap_.front().total; }
  std::vector<Candidate> best_first() && {
    std::sort(heap_.begin(), heap_.end(), better);
    return std::move(heap_);
  }

 private:
  size_t most_;
  std::vector<Candidate> heap_;
};

// Which tokens may come next.
struct Choice {
  bool end, unknown;
  int32_t forced = -1;  // the only one that may, if not negative
  bool allows(int32_t token) const {
    if (forced >= 0) return token == forced;
    if (token == eos_token) return end;
    return token != pad_token && token != bos_token && (unknown || token != unknown_token);
  }
};

// Whether one of them may be a candidate, or is NaN.
bool reaches(const float* log_p, int64_t count, float bound) {
  int found = 0;
  for (int64_t i = 0; i < count; ++i) found |= static_cast<int>(!(log_p[i] < bound));
  return found != 0;
}

// Adds a row of log-probabilities [V] of the next token of hypothesis `parent`. Most tokens have no chance: they are
// passed over by blocks.
void collect(const float* log_p, int64_t vocabulary, double total, size_t parent, const Choice& choice,
             Candidates& into) {
  constexpr int64_t block = 64;
  for (int64_t first = 0; first < vocabulary; first += block) {
    const int64_t end = std::min(vocabulary, first + block);
    const auto bound = static_cast<float>(into.least() - total);
    if (!reaches(log_p + first, end - first, std::nextafter(bound, -std::numeric_limits<float>::infinity()))) continue;
    for (auto token = static_cast<int32_t>(first); token < end; ++token) {
      if (std::isnan(log_p[token]))
        throw NonFiniteError("search: the model's scores are NaN; are its weights damaged?");
      if (choice.allows(token)) into.add({parent, token, log_p[token], total + static_cast<double>(log_p[token])});
    }
  }
}

// The greatest length a model's positions allow.
int64_t most_positions(const TransformerConfig& config) {
  return config.positions == PositionKind::learned ? config.max_positions : std::numeric_limits<int64_t>::max();
}

class Search {
 public:
  Search(const TranslationModel& model, const Tensor& source, const Tensor& lengths, const SearchOptions& options)
      : model_(model), options_(options), lengths_(lengths), memory_(model.encode(source, lengths)) {
    for (Dim row = 0; row < source.size(0); ++row) {
      const auto length = static_cast<int64_t>(lengths.at({row}));
      const int64_t limit = options.max_length > 0 ? options.max_length : 2 * length + 10;
      sentences_.push_back({static_cast<size_t>(row), std::min(limit, most_positions(model.config)), {Live{}}, {}});
    }
    results_.resize(sentences_.size());
  }

  std::vector<std::vector<Hypothesis>> run() {
    while (!sentences_.empty()) step();
    return std::move(results_);
  }

 private:
  // Row by row the log-probabilities of the next token, [R,V].
  Tensor next_log_probabilities() {
    std::vector<int32_t> last;
    for (const Sentence& sentence : sentences_) {
      for (const Live& live : sentence.live) append_input(live, last);
    }
    const Dim rows = lengths_.size(0);
    const Tensor input = Tensor::from(last, {rows, static_cast<Dim>(last.size()) / rows});
    Tensor hidden = model_.decode(input, memory_, lengths_, options_.use_cache ? &cache_ : nullptr);  // [R,T,D]
    hidden = slice(hidden, 1, hidden.size(1) - 1, hidden.size(1));
    const Tensor logits = model_.logits(hidden);  // [R,1,V]
    return log_softmax(reshape(logits, {rows, logits.size(2)}));
  }

  // With a cache the last token; without, all of them.
  void append_input(const Live& live, std::vector<int32_t>& into) const {
    if (!options_.use_cache || live.tokens.empty()) into.push_back(bos_token);
    const size_t from = options_.use_cache && !live.tokens.empty() ? live.tokens.size() - 1 : 0;
    into.insert(into.end(), live.tokens.begin() + static_cast<std::ptrdiff_t>(from), live.tokens.end());
  }

  void step() {
    const Tensor log_p = next_log_probabilities();
    std::vector<Sentence> going_on;
    std::vector<int64_t> rows;  // of this step's batch, that the next one continues
    int64_t first_row = 0;
    for (Sentence& sentence : sentences_) {
      const auto live_rows = static_cast<int64_t>(sentence.live.size());
      const std::vector<size_t> parents = advance(sentence, log_p, first_row);
      if (is_done(sentence)) {
        finish(sentence);
      } else {
        for (const size_t parent : parents) rows.push_back(first_row + static_cast<int64_t>(parent));
        going_on.push_back(std::move(sentence));
      }
      first_row += live_rows;
    }
    sentences_ = std::move(going_on);
    if (!sentences_.empty()) keep_rows(rows, first_row);
  }

  // Extends a sentence's hypotheses; returns the parent of each that goes on.
  std::vector<size_t> advance(Sentence& sentence, const Tensor& log_p, int64_t first_row) const {
    const auto beam = static_cast<size_t>(options_.beam);
    std::vector<Candidate> candidates = best_candidates(sentence, log_p, first_row);
    const bool at_limit = length_after(sentence) >= sentence.max_length;
    std::vector<Live> next;
    std::vector<size_t> parents;
    for (size_t rank = 0; rank < candidates.size() && next.size() < beam; ++rank) {
      Candidate& candidate = candidates[rank];
      const bool ends = candidate.token == eos_token;
      if ((ends || at_limit) && rank >= beam) continue;  // it ends, but is not among the best of this step
      Live live = extended(sentence.live[candidate.parent], candidate);
      if (ends || at_limit) {
        candidate.state = SearchCandidate::State::finished;
        add_finished(sentence, std::move(live), ends);
      } else {
        candidate.state = SearchCandidate::State::live;
        next.push_back(std::move(live));
        parents.push_back(candidate.parent);
      }
    }
    if (options_.observer) {
      const int64_t length = length_after(sentence);
      options_.observer({sentence.index, length, length_divisor(options_, length), std::move(candidates)});
    }
    sentence.live = std::move(next);
    return parents;
  }

  // Twice as many as the beam: half of them may be EOS, and a full beam goes on nevertheless.
  std::vector<Candidate> best_candidates(const Sentence& sentence, const Tensor& log_p, int64_t first_row) const {
    const int64_t vocabulary = log_p.size(1);
    const int64_t length = length_after(sentence);
    Choice choice{length >= options_.min_length, options_.allow_unknown};
    if (const auto place = static_cast<size_t>(length - 1); place < options_.prefix.size()) {
      choice.forced = options_.prefix[place];
    }
    Candidates candidates(2 * static_cast<size_t>(options_.beam));
    for (size_t i = 0; i < sentence.live.size(); ++i) {
      const float* row = log_p.data<float>() + (first_row + static_cast<int64_t>(i)) * vocabulary;
      collect(row, vocabulary, sentence.live[i].total, i, choice, candidates);
    }
    return std::move(candidates).best_first();
  }

  // Of the hypotheses, once this step's tokens are part of them; all live ones are of one length.
  static int64_t length_after(const Sentence& sentence) {
    return static_cast<int64_t>(sentence.live[0].log_probabilities.size()) + 1;
  }

  static Live extended(Live live, const Candidate& candidate) {
    live.total = candidate.total;
    live.log_probabilities.push_back(candidate.log_probability);
    if (candidate.token != eos_token) live.tokens.push_back(candidate.token);
    return live;
  }

  void add_finished(Sentence& sentence, Live live, bool complete) const {
    Hypothesis hypothesis;
    hypothesis.length_divisor = length_divisor(options_, static_cast<int64_t>(live.log_probabilities.size()));
    hypothesis.log_probability = live.total;
    hypothesis.score = live.total / hypothesis.length_divisor;
    hypothesis.complete = complete;
    hypothesis.tokens = std::move(live.tokens);
    hypothesis.token_log_probabilities = std::move(live.log_probabilities);
    auto& finished = sentence.finished;
    const auto place = std::find_if(finished.begin(), finished.end(),
                                    [&](const Hypothesis& other) { return hypothesis.score > other.score; });
    finished.insert(place, std::move(hypothesis));
    if (finished.size() > static_cast<size_t>(options_.beam)) finished.pop_back();
  }

  // Whether no live hypothesis can still come among the best.
  bool is_done(const Sentence& sentence) const {
    if (sentence.live.empty()) return true;
    if (sentence.finished.empty()) return false;
    if (options_.beam == 1) return true;
    if (sentence.finished.size() < static_cast<size_t>(options_.nbest)) return false;
    // log p only falls, and its divisor is largest at the greatest length: no extension can score above this.
    const double divisor =
        std::max(length_divisor(options_, length_after(sentence)), length_divisor(options_, sentence.max_length));
    return sentence.live[0].total / divisor <= sentence.finished[static_cast<size_t>(options_.nbest) - 1].score;
  }

  void finish(Sentence& sentence) {
    const auto most = static_cast<size_t>(options_.nbest);
    if (sentence.finished.size() > most) sentence.finished.resize(most);
    results_[sentence.index] = std::move(sentence.finished);
  }

  void keep_rows(const std::vector<int64_t>& rows, int64_t all_rows) {
    bool same = static_cast<int64_t>(rows.size()) == all_rows;
    for (size_t i = 0; i < rows.size() && same; ++i) same = rows[i] == static_cast<int64_t>(i);
    if (same) return;
    const Tensor index = Tensor::from(rows, {static_cast<Dim>(rows.size())});
    lengths_ = index_select(lengths_, 0, index);
    if (options_.use_cache) {
      cache_.select(rows);
    } else {
      memory_ = index_select(memory_, 0, index);
    }
  }

  const TranslationModel& model_;
  const SearchOptions options_;
  Tensor lengths_;  // [R], of the live rows
  Tensor memory_;   // [R,S,D]; with a cache only the first step reads it
  DecoderCache cache_;
  std::vector<Sentence> sentences_;
  std::vector<std::vector<Hypothesis>> results_;
};

}  // namespace

void check_search_options(const SearchOptions& o) {
  if (o.beam < 1 || o.nbest < 1 || o.nbest > o.beam) {
    throw ValueError("search: beam is 1 or more and nbest between 1 and beam, got beam " + std::to_string(o.beam) +
                     ", nbest " + std::to_string(o.nbest));
  }
  if (o.max_length < 0 || o.min_length < 0 || (o.max_length > 0 && o.min_length > o.max_length)) {
    throw ValueError("search: lengths are 0 or more and min_length at most max_length, got " +
                     std::to_string(o.min_length) + " and " + std::to_string(o.max_length));
  }
  if (!std::isfinite(o.alpha) || o.alpha < 0) {
    throw ValueError("search: alpha is 0 or more, got " + std::to_string(o.alpha));
  }
}

namespace {

void check_prefix(const std::vector<int32_t>& prefix, Dim vocabulary) {
  for (const int32_t token : prefix) {
    if (token < 0 || token >= vocabulary || token == pad_token || token == bos_token || token == eos_token) {
      throw ValueError("search: token " + std::to_string(token) + " cannot be in a prefix; it takes words, of [0," +
                       std::to_string(vocabulary) + ")");
    }
  }
}

}  // namespace

std::vector<std::vector<Hypothesis>> search(const TranslationModel& model, const Tensor& source,
                                            const Tensor& source_lengths, const SearchOptions& options) {
  check_search_options(options);
  check_prefix(options.prefix, model.config.target_vocabulary);
  const NoGrad values_only;
  return Search(model, source, source_lengths, options).run();
}

}  // namespace glass
