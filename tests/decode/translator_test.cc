#include "glassformer/decode/translator.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "decode/tiny_models.h"
#include "glassformer/base/error.h"
#include "glassformer/data/text.h"

namespace glass {
namespace {

using testing::Folder;
using testing::sharp_model;
using testing::tiny_config;
using testing::word_vocabulary;
using Lines = std::vector<std::string>;

SavedTranslation saved(PositionKind positions = PositionKind::sinusoidal) {
  TransformerConfig config = tiny_config(10, 9);
  config.decoder_layers = 1;
  config.positions = positions;
  config.max_positions = 6;
  return {sharp_model(config), word_vocabulary("a b c d e f"), word_vocabulary("u v w x y z"), {}};
}

// Of many lengths, out of order, with blanks.
const Lines lines{"a", "b c d e f a b c", "",       "f e d", "   ", "c c c c c c c c c c c c",
                  "d", "a b never-seen",  "e f a b"};

TranslateOptions options_of(int beam, int nbest, int64_t batch_tokens = 4096) {
  TranslateOptions o;
  o.search.beam = beam;
  o.search.nbest = nbest;
  o.batch_tokens = batch_tokens;
  return o;
}

// Batches change the last digits only, and these sums of some twenty float32 numbers of order 1 show no more than 1e-4.
void expect_same(const Translation& a, const Translation& b) {
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.texts, b.texts);
  ASSERT_EQ(a.nbest.size(), b.nbest.size());
  for (size_t i = 0; i < a.nbest.size(); ++i) {
    EXPECT_EQ(a.nbest[i].tokens, b.nbest[i].tokens);
    EXPECT_NEAR(a.nbest[i].score, b.nbest[i].score, 1e-4);
  }
}

TEST(Translator, OrderAndBatchesDoNotMatter) {
  const Translator translator(saved());
  for (const int64_t batch_tokens : {int64_t{1}, int64_t{20}, int64_t{4096}}) {
    const auto together = translator.translate(lines, options_of(3, 2, batch_tokens));
    ASSERT_EQ(together.size(), lines.size());
    for (size_t i = 0; i < lines.size(); ++i)
      expect_same(together[i], translator.translate(lines[i], options_of(3, 2)));
  }
  const auto results = translator.translate(lines);
  std::set<std::string> texts;
  for (const Translation& result : results) texts.insert(result.text);
  EXPECT_GT(texts.size(), 3u);  // otherwise a wrong order would go unseen
  EXPECT_TRUE(translator.translate(Lines{}).empty());
}

TEST(Translator, BlankLinesStayBlank) {
  const Translator translator(saved());
  for (const char* blank : {"", " ", "\t"}) {
    const Translation translation = translator.translate(std::string(blank), options_of(3, 3));
    EXPECT_EQ(translation.text, "");
    EXPECT_TRUE(translation.nbest.empty());
  }
}

TEST(Translator, TextsAreThoseOfTheHypotheses) {
  const Translator translator(saved());
  const Translation translation = translator.translate(std::string("a b c"), options_of(4, 4));
  ASSERT_EQ(translation.nbest.size(), 4u);
  ASSERT_EQ(translation.texts.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(translation.texts[i], translator.saved().target->decode(translation.nbest[i].tokens));
  }
  EXPECT_EQ(translation.text, translation.texts[0]);
}

TEST(Translator, LongLinesAreCutOrSkipped) {
  const Translator translator(saved());
  TranslateOptions o;
  o.max_source = 4;  // three words and EOS
  const auto cut = translator.translate(Lines{"a b c", "a b c d", "a b c d e f"}, o);
  EXPECT_FALSE(cut[0].source_was_cut);
  EXPECT_TRUE(cut[1].source_was_cut && cut[2].source_was_cut);
  EXPECT_EQ(cut[1].text, cut[0].text);
  EXPECT_EQ(cut[2].text, cut[0].text);
  o.long_lines = LongLines::skip;
  const auto skipped = translator.translate(Lines{"a b c", "a b c d"}, o);
  EXPECT_EQ(skipped[0].text, cut[0].text);
  EXPECT_FALSE(skipped[0].source_was_skipped);
  EXPECT_TRUE(skipped[1].source_was_skipped);
  EXPECT_FALSE(skipped[1].source_was_cut);
  EXPECT_EQ(skipped[1].text, "");
}

TEST(Translator, LearnedPositionsCutLongLines) {
  const Translator translator(saved(PositionKind::learned));
  const auto results = translator.translate(Lines{"a b c d e", "a b c d e f"});
  EXPECT_FALSE(results[0].source_was_cut);
  EXPECT_TRUE(results[1].source_was_cut);
  EXPECT_EQ(results[0].text, results[1].text);
}

TEST(Translator, Errors) {
  const Translator translator(saved());
  EXPECT_THROW(translator.translate(lines, options_of(1, 2)), ValueError);
  EXPECT_THROW(translator.translate(lines, options_of(0, 0)), ValueError);
  EXPECT_THROW(translator.translate(Lines{" "}, options_of(1, 2)),
               ValueError);  // said even if there is nothing to search for
  EXPECT_THROW(translator.translate(lines, options_of(1, 1, 0)), ValueError);
  EXPECT_THROW(Translator::load("/nonexistent/model.safetensors"), InputError);
}

TEST(Translator, LoadedOneTranslatesTheSame) {
  const Folder folder;
  const SavedTranslation original = saved();
  const std::string path = folder.file("model.safetensors");
  write_safetensors(path, translation_contents(*original.model, *original.source, *original.target, {}));
  const Translator loaded = Translator::load(path), kept(saved());
  for (const std::string& line : lines) EXPECT_EQ(loaded.translate(line).text, kept.translate(line).text);
}

TEST(Translator, SeveralThreadsAtOnce) {
  const Translator translator(saved());
  const auto wanted = translator.translate(lines, options_of(3, 3));
  const AttentionMaps wanted_maps = translator.attention("a b", "x y");
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int round = 0; round < 3; ++round) {
        const auto got = translator.translate(lines, options_of(3, 3));
        for (size_t i = 0; i < lines.size(); ++i) {
          ASSERT_EQ(got[i].texts, wanted[i].texts);
          for (size_t n = 0; n < got[i].nbest.size(); ++n) {
            EXPECT_EQ(got[i].nbest[n].token_log_probabilities, wanted[i].nbest[n].token_log_probabilities);
          }
        }
        const AttentionMaps maps = translator.attention("a b", "x y");
        ASSERT_EQ(maps.maps.size(), wanted_maps.maps.size());
        for (size_t i = 0; i < maps.maps.size(); ++i) {
          EXPECT_EQ(maps.maps[i].path, wanted_maps.maps[i].path);
          EXPECT_EQ(maps.maps[i].weights.to_vector(), wanted_maps.maps[i].weights.to_vector());
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(Attention, HasAMapForEachLayerWithItsPieces) {
  const Translator translator(saved());
  const AttentionMaps maps = translator.attention("a b c", "x y");
  EXPECT_EQ(maps.source_pieces, (Lines{"a", "b", "c", "</s>"}));
  EXPECT_EQ(maps.target_pieces, (Lines{"<s>", "x", "y"}));
  const std::vector<std::pair<std::string, Shape>> wanted{{"encoder.layers.0.self_attn", {2, 4, 4}},
                                                          {"decoder.layers.0.self_attn", {2, 3, 3}},
                                                          {"decoder.layers.0.cross_attn", {2, 3, 4}}};
  ASSERT_EQ(maps.maps.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const AttentionMap& map = maps.maps[i];
    EXPECT_EQ(map.path, wanted[i].first);
    ASSERT_EQ(map.weights.shape(), wanted[i].second) << map.path;
    const bool causal = map.path.starts_with("decoder") && map.path.ends_with("self_attn");
    for (Dim head = 0; head < 2; ++head) {
      for (Dim query = 0; query < map.weights.size(1); ++query) {
        double sum = 0;
        for (Dim key = 0; key < map.weights.size(2); ++key) {
          sum += map.weights.at({head, query, key});
          if (causal && key > query) {
            EXPECT_EQ(map.weights.at({head, query, key}), 0);
          }
        }
        EXPECT_NEAR(sum, 1, 1e-6);  // some ten float32 roundings below 1
      }
    }
  }
}

TEST(Attention, OfAHypothesisAndOfItsTextAgree) {
  const Translator translator(saved());
  const std::vector<int32_t> tokens = translator.saved().target->encode("x y z");
  const AttentionMaps of_tokens = translator.attention("a b", tokens), of_text = translator.attention("a b", "x y z");
  EXPECT_EQ(of_tokens.target_pieces, of_text.target_pieces);
  ASSERT_EQ(of_tokens.maps.size(), of_text.maps.size());
  for (size_t i = 0; i < of_text.maps.size(); ++i) {
    EXPECT_EQ(of_tokens.maps[i].weights.to_vector(), of_text.maps[i].weights.to_vector());
  }
  EXPECT_EQ(translator.attention("", "").source_pieces, Lines{"</s>"});
}

// A pipe whose reading end is translated on another thread.
class Stream : public ::testing::Test {
 protected:
  void start(size_t block, InvalidUtf8 invalid = InvalidUtf8::error) {
    ASSERT_EQ(pipe(ends_), 0);
    worker_ = std::thread([this, block, invalid] {
      LineReader reader(ends_[0], "the pipe", invalid);
      try {
        translate_stream(translator_, reader, {}, block, [this](const Lines& in, const std::vector<Translation>& out) {
          const std::lock_guard lock(mutex_);
          for (size_t i = 0; i < in.size(); ++i) answers_.push_back(in[i] + " -> " + out[i].text);
          largest_block_ = std::max(largest_block_, in.size());
          changed_.notify_all();
        });
      } catch (const InputError& error) {
        failure_ = error.what();
      }
    });
  }
  void write(const std::string& text) {
    ASSERT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  // Until so many answers are there. The limit only keeps a failing test from waiting for ever.
  bool wait_for(size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return answers_.size() >= count; });
  }
  void finish() {
    close(ends_[1]);
    worker_.join();
    close(ends_[0]);
  }
  std::string answer(const std::string& line) const { return line + " -> " + translator_.translate(line).text; }

  const Translator translator_{saved()};
  int ends_[2] = {-1, -1};
  std::thread worker_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Lines answers_;
  size_t largest_block_ = 0;
  std::string failure_;
};

TEST_F(Stream, AnswersEachLineBeforeTheNextIsSent) {
  start(100);
  for (size_t i = 0; i < lines.size(); ++i) {
    write(lines[i] + "\n");
    EXPECT_TRUE(wait_for(i + 1)) << "no answer to line " << i;
  }
  write("a b");  // the last line needs no line feed
  finish();
  ASSERT_EQ(answers_.size(), lines.size() + 1);
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(answers_[i], answer(lines[i]));
  EXPECT_EQ(answers_.back(), answer("a b"));
}

TEST_F(Stream, AHalfLineDoesNotHoldBackTheOneBefore) {
  start(100);
  write("a b\nc");
  EXPECT_TRUE(wait_for(1));
  write(" d\n");
  finish();
  EXPECT_EQ(answers_, (Lines{answer("a b"), answer("c d")}));
}

TEST_F(Stream, BlocksAreOfTheGivenLengthAtMost) {
  std::string text;
  for (int i = 0; i < 25; ++i) text += lines[static_cast<size_t>(i) % lines.size()] + "\n";
  start(7);
  write(text);
  finish();
  ASSERT_EQ(answers_.size(), 25u);
  for (size_t i = 0; i < answers_.size(); ++i) EXPECT_EQ(answers_[i], answer(lines[i % lines.size()]));
  EXPECT_LE(largest_block_, 7u);
}

TEST_F(Stream, LinesBeforeADamagedOneAreAnswered) {
  start(100);
  write("a b\nc\n\xff\nd\n");
  finish();
  EXPECT_EQ(answers_, (Lines{answer("a b"), answer("c")}));
  EXPECT_NE(failure_.find(":3:"), std::string::npos) << failure_;
}

TEST_F(Stream, NothingInNothingOut) {
  start(100);
  finish();
  EXPECT_TRUE(answers_.empty());
}

}  // namespace
}  // namespace glass
