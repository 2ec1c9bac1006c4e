#include "glassformer/decode/search.h"

#include <algorithm>
#include <cmath>

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
    case LengthNorm::none: return 1;
    case LengthNorm::average: return std::pow(tokens, options.alpha);
    case LengthNorm::gnmt: return std::pow((5 + tokens) / 6, options.alpha);
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

struct Candidate {
  double total = 0;
  size_t parent = 0;  // within the sentence's live hypotheses
  int32_t token = 0;
  float log_probability = 0;
};

// Higher first; of equals the earlier hypothesis, then the lower token.
bool better(const Candidate& a, const Candidate& b) {
  if (a.total != b.total) return a.total > b.total;
  return std::pair(a.parent, a.token) < std::pair(b.parent, b.token);
}

// Adds the `most` best tokens of one row to the list of candidates, keeping the list at `most`.
void collect(const float* log_p, int64_t vocabulary, double total, size_t parent, size_t most,
             std::vector<Candidate>& heap) {
  for (int32_t token = 0; token < vocabulary; ++token) {
    if (token == pad_token || token == bos_token) continue;
    const double sum = total + static_cast<double>(log_p[token]);
    if (heap.size() == most && !(sum > heap.front().total)) continue;
    heap.push_back({sum, parent, token, log_p[token]});
    std::push_heap(heap.begin(), heap.end(), better);  // the worst in front
    if (heap.size() > most) {
      std::pop_heap(heap.begin(), heap.end(), better);
      heap.pop_back();
    }
  }
}

class Search {
 public:
  Search(const TranslationModel& model, const Tensor& source, const Tensor& lengths, const SearchOptions& options)
      : model_(model), options_(options), lengths_(lengths), memory_(model.encode(source, lengths)) {
    for (Dim row = 0; row < source.size(0); ++row) {
      const auto length = static_cast<int64_t>(lengths.at({row}));
      const int64_t limit = options.max_length > 0 ? options.max_length : 2 * length + 10;
      sentences_.push_back({static_cast<size_t>(row), limit, {Live{}}, {}});
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
    const int64_t vocabulary = log_p.size(1);
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < sentence.live.size(); ++i) {
      const float* row = log_p.data<float>() + (first_row + static_cast<int64_t>(i)) * vocabulary;
      collect(row, vocabulary, sentence.live[i].total, i, 2 * beam, candidates);  // half of them may be EOS
    }
    std::sort(candidates.begin(), candidates.end(), better);
    std::vector<Live> next;
    std::vector<size_t> parents;
    for (size_t rank = 0; rank < candidates.size() && next.size() < beam; ++rank) {
      const Candidate& candidate = candidates[rank];
      Live live = sentence.live[candidate.parent];
      live.total = candidate.total;
      live.log_probabilities.push_back(candidate.log_probability);
      const bool at_limit = static_cast<int64_t>(live.log_probabilities.size()) >= sentence.max_length;
      if (candidate.token == eos_token) {
        if (rank < beam) add_finished(sentence, live, true);
        continue;
      }
      live.tokens.push_back(candidate.token);
      if (at_limit) {
        add_finished(sentence, live, false);
        continue;
      }
      next.push_back(std::move(live));
      parents.push_back(candidate.parent);
    }
    sentence.live = std::move(next);
    return parents;
  }

  void add_finished(Sentence& sentence, const Live& live, bool complete) const {
    Hypothesis hypothesis{live.tokens, live.log_probabilities, live.total};
    hypothesis.length_divisor = length_divisor(options_, static_cast<int64_t>(live.log_probabilities.size()));
    hypothesis.score = live.total / hypothesis.length_divisor;
    hypothesis.complete = complete;
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
    const auto tokens = static_cast<int64_t>(sentence.live[0].log_probabilities.size());
    const double divisor = std::max(length_divisor(options_, tokens + 1), length_divisor(options_, sentence.max_length));
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
      cache_.select(index);
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

std::vector<std::vector<Hypothesis>> search(const TranslationModel& model, const Tensor& source,
                                            const Tensor& source_lengths, const SearchOptions& options) {
  if (options.beam < 1 || options.nbest < 1 || options.nbest > options.beam) {
    throw ValueError("search: beam is 1 or more and nbest between 1 and beam, got beam " +
                     std::to_string(options.beam) + ", nbest " + std::to_string(options.nbest));
  }
  const NoGrad values_only;
  return Search(model, source, source_lengths, options).run();
}

}  // namespace glass
