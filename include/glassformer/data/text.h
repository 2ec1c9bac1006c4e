// Text files as lines: plain or gzip, checked to be UTF-8.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace glass {

enum class InvalidUtf8 {
  error,    // InputError with file, line and remedy
  replace,  // each maximal invalid part becomes U+FFFD
};

// Lines end at LF, and a CR before it goes too. A byte order mark at the start is dropped; the last line needs no LF.
// NUL, U+2028, tabs, a CR elsewhere and all other characters pass through. Streams: holds one line and one block at a
// time. One thread at a time may use a reader.
class LineReader {
 public:
  // Opens a file, gzip or not. Throws InputError if it is missing, a folder or unreadable.
  explicit LineReader(const std::string& path, InvalidUtf8 invalid = InvalidUtf8::error);
  // Reads from a descriptor that the caller keeps, such as standard input; `name` is for messages.
  LineReader(int descriptor, std::string name, InvalidUtf8 invalid);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // False at the end. Throws InputError for invalid UTF-8 or a damaged archive.
  bool next(std::string& line);
  int64_t line_number() const { return line_number_; }  // of the line last returned, from 1
  // Whether a whole line can be had without waiting for more input; takes in what has come. Throws as next() does.
  bool has_line_ready();

 private:
  struct Source;
  bool fill();
  ssize_t read_block(char* to);
  bool take_line(std::string& line);
  void check_utf8(std::string& line) const;

  std::string name_;
  InvalidUtf8 invalid_;
  std::unique_ptr<Source> source_;
  std::string buffer_;
  size_t begin_ = 0;
  bool at_end_ = false;
  int64_t line_number_ = 0;
};

// All lines. Throws InputError if there is none.
std::vector<std::string> read_lines(const std::string& path, InvalidUtf8 invalid = InvalidUtf8::error);

// The length of the valid UTF-8 prefix of `text`: text.size() if it is valid.
size_t valid_utf8_prefix(std::string_view text);
std::string replace_invalid_utf8(std::string_view text);

// Code points, of valid UTF-8.
std::vector<std::string_view> utf8_characters(std::string_view text);

struct ParallelText {
  std::vector<std::string> source, target;
  size_t size() const { return source.size(); }
};

// Two aligned files; different numbers of lines are an InputError naming both.
ParallelText read_pairs(const std::string& source_path, const std::string& target_path,
                        InvalidUtf8 invalid = InvalidUtf8::error);
// Lines of "source TAB target [TAB more]".
ParallelText read_tsv_pairs(const std::string& path, InvalidUtf8 invalid = InvalidUtf8::error);

// Holds out `fraction` of the rows (at least one unless it is 0) such that the held-out rows differ from each other and
// from all of training on both sides; what shares a side with a held-out row is left out of both. Shuffled; a pure
// function of text, fraction and seed. Throws InputError unless 0 <= fraction < 1 and something is left to train on.
struct SplitText {
  ParallelText train, valid;
  size_t left_out = 0;
};
SplitText split_by_distinct_sentence(const ParallelText& text, double fraction, uint64_t seed);

// What a report says of a corpus before it is trained on. Lengths are in characters, lines count from 1.
struct PairStatistics {
  int64_t pairs = 0;
  int64_t duplicate_pairs = 0;    // equal, on both sides, to an earlier row
  int64_t duplicate_sources = 0;  // equal to an earlier source, whatever the target
  int64_t duplicate_targets = 0;
  int64_t empty_sources = 0;  // nothing but white space
  int64_t empty_targets = 0;
  int64_t copies = 0;  // not empty, and both sides equal: often left untranslated
  double mean_source_length = 0, mean_target_length = 0;
  int64_t longest_source_line = 0, longest_target_line = 0;  // the first of the longest; 0 if there are no pairs
  double median_length_ratio = 0;  // target over source, of the rows that are not empty; 0 if there are none
  // Rows whose log length ratio is farther from the median than 5 robust deviations (1.4826 times the median absolute
  // deviation) and than log 3: probably misaligned.
  std::vector<int64_t> length_outliers;
};
PairStatistics inspect_pairs(const ParallelText& text);

}  // namespace glass
