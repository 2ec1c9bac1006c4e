#include "glassformer/data/text.h"

#include <fcntl.h>

#include <algorithm>

#include "data/files.h"

namespace glass {
namespace {

using Lines = std::vector<std::string>;

TEST(TextLines, OnlyLineFeedsEndThem) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_lines(folder.put("a", "a\rb\r\n\r\r\nc\r")), (Lines{"a\rb", "\r", "c\r"}));
  EXPECT_EQ(read_lines(folder.put("b", "\n\n")), (Lines{"", ""}));
  EXPECT_EQ(read_lines(folder.put("c", "\xE2\x80\xA9p\x1E\x1C")), (Lines{"\u2029p\x1E\x1C"}));
  const std::string odd = std::string("nul\0nul", 7) + "\u2028\u0085\v\f\ttab \U0001F600 \u05E9\u05DC";
  EXPECT_EQ(read_lines(folder.put("d", odd + "\n" + odd)), (Lines{odd, odd}));
}

TEST(TextLines, ByteOrderMarkGoesAtTheStartOnly) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_lines(folder.put("a", "\uFEFFa\n\uFEFFb\uFEFF\n")), (Lines{"a", "\uFEFFb\uFEFF"}));
  EXPECT_EQ(read_lines(folder.put("b", "\uFEFF\uFEFFa")), (Lines{"\uFEFFa"}));
  EXPECT_EQ(read_lines(folder.put("c", "\uFEFF\n")), (Lines{""}));
  EXPECT_TRUE(contains(message_of([&] { read_lines(folder.put("d", "\uFEFF")); }), "empty"));
}

// Blocks of 64 KiB are read: lines, line ends and characters must come whole whatever their place.
TEST(TextLines, DoNotDependOnBlocks) {
  const TemporaryFolder folder;
  for (const size_t length : {65533u, 65534u, 65535u, 65536u, 65537u, 131072u, 300000u}) {
    const std::string before(length, 'x');
    EXPECT_EQ(read_lines(folder.put("a", before + "\r\n\U0001F600\r\n")), (Lines{before, "\U0001F600"})) << length;
    EXPECT_EQ(read_lines(folder.put("b", before + "\U0001F600")), (Lines{before + "\U0001F600"})) << length;
  }
}

TEST(TextLines, NaughtyStringsPassUnharmed) {
  const std::string path = source_path("tests/data/naughty-strings.txt");
  std::string joined;
  const Lines lines = read_lines(path);
  for (const std::string& line : lines) joined += line + "\n";
  EXPECT_EQ(lines.size(), 742u);
  EXPECT_EQ(joined, file_bytes(path));
}

TEST(TextLines, GzipWholeInMembersAndEmpty) {
  const TemporaryFolder folder;
  folder.put_gzip("two.gz", "\uFEFFa\r\nb");
  EXPECT_EQ(read_lines(folder.put_gzip("two.gz", "c\nd")), (Lines{"a", "bc", "d"}));  // as gunzip joins them
  EXPECT_TRUE(contains(message_of([&] { read_lines(folder.put_gzip("none.gz", "")); }), "empty"));
  EXPECT_EQ(read_lines(folder.put("plain.gz", "not compressed\n")), (Lines{"not compressed"}));
}

// Cut anywhere, an archive is an error; from 2 bytes on, which tell that it is one.
TEST(TextLines, CutArchiveIsRefusedAtEveryLength) {
  const TemporaryFolder folder;
  const std::string whole = file_bytes(folder.put_gzip("whole.gz", "line one\nline two\nline one again\n"));
  for (size_t length = 2; length < whole.size(); ++length) {
    const std::string path = folder.put("cut.gz", whole.substr(0, length));
    const std::string message = message_of([&] { read_lines(path); });
    EXPECT_TRUE(contains(message, path)) << length << ": " << message;
    EXPECT_TRUE(contains(message, "damaged")) << length << ": " << message;
  }
}

TEST(TextLines, FlippedBitsOfAnArchiveNeverPassAsText) {
  const TemporaryFolder folder;
  const std::string text = "line one\nline two\n", whole = file_bytes(folder.put_gzip("whole.gz", text));
  const Lines lines{"line one", "line two"};
  for (size_t bit = 10 * 8; bit < whole.size() * 8; ++bit) {  // after the header, most of which may hold anything
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    const std::string path = folder.put("flipped.gz", flipped);
    try {
      EXPECT_EQ(read_lines(path), lines) << bit;  // a bit that the format does not use
    } catch (const InputError&) {
    }
  }
}

TEST(TextLines, FaultsNameTheFileAndWhatToDo) {
  const TemporaryFolder folder;
  const std::string missing = folder.path("missing");
  const std::string message = message_of([&] { read_lines(missing); });
  EXPECT_TRUE(contains(message, missing) && contains(message, "No such file") && contains(message, "check the path"));
  EXPECT_TRUE(contains(message_of([&] { read_lines(folder.path("")); }), "name a text file"));
  EXPECT_TRUE(contains(message_of([&] { read_lines(folder.put("e", "")); }), "empty; it must have"));
  const std::string shut = folder.put("shut", "text");
  std::filesystem::permissions(shut, std::filesystem::perms::none);
  if (access(shut.c_str(), R_OK) != 0) {  // nothing is shut to root
    EXPECT_TRUE(contains(message_of([&] { read_lines(shut); }), "permissions"));
  }
}

TEST(TextLines, InvalidTextIsPlaced) {
  const TemporaryFolder folder;
  const std::string path = folder.put("a", "\uFEFFfine\r\nab\xED\xA0\x80\n");
  EXPECT_EQ(
      message_of([&] { read_lines(path); }),
      path + ":2: not valid UTF-8 from byte 3 on; convert the file, or have such parts replaced (--replace-invalid)");
  EXPECT_EQ(read_lines(path, InvalidUtf8::replace), (Lines{"fine", "ab\uFFFD\uFFFD\uFFFD"}));
  LineReader reader(path);
  std::string line;
  EXPECT_TRUE(reader.next(line));
  EXPECT_THROW(reader.next(line), InputError);
}

TEST(TextLines, FromADescriptorThatStaysOpen) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  LineReader reader(ends[0], "standard input", InvalidUtf8::error);
  EXPECT_FALSE(reader.has_line_ready());
  ASSERT_EQ(write(ends[1], "a\nb\nc", 5), 5);
  std::string line;
  EXPECT_TRUE(reader.has_line_ready());
  EXPECT_TRUE(reader.next(line));
  EXPECT_EQ(line, "a");
  EXPECT_TRUE(reader.has_line_ready());
  EXPECT_TRUE(reader.next(line));
  EXPECT_FALSE(reader.has_line_ready());  // "c" has no end yet
  close(ends[1]);
  EXPECT_TRUE(reader.next(line));
  EXPECT_EQ(line, "c");
  EXPECT_EQ(reader.line_number(), 3);
  EXPECT_FALSE(reader.next(line));
  EXPECT_FALSE(reader.next(line));
  EXPECT_NE(fcntl(ends[0], F_GETFD), -1);
  close(ends[0]);
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t place = text.find(part); place != std::string::npos; place = text.find(part, place + part.size()))
    ++count;
  return count;
}

// 68 lines hold 378 maximal invalid parts, and one U+FFFD was there before: what Python's errors="replace" gives, too.
TEST(Utf8StressTest, ReplacedByMaximalParts) {
  const std::string path = source_path("tests/data/UTF-8-test.txt");
  EXPECT_TRUE(contains(message_of([&] { read_lines(path); }), path + ":75: not valid UTF-8 from byte 38 on"));
  const Lines lines = read_lines(path, InvalidUtf8::replace);
  size_t replaced = 0, bytes = 0, changed = 0;
  std::string whole = file_bytes(path);
  for (const std::string& line : lines) {
    EXPECT_EQ(valid_utf8_prefix(line), line.size());
    replaced += count_of(line, "\uFFFD");
    bytes += line.size() + 1;
    changed += whole.find(line + "\n") == std::string::npos ? 1u : 0u;
  }
  EXPECT_EQ(lines.size(), 300u);
  EXPECT_EQ(replaced, 379u);
  EXPECT_EQ(bytes, 23589u);
  EXPECT_EQ(changed, 68u);
}

// The Unicode Standard 15, tables 3-8, 3-9 and 3-10.
TEST(Utf8StressTest, TheStandardsExamples) {
  const std::string r = "\uFFFD";
  EXPECT_EQ(replace_invalid_utf8("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(replace_invalid_utf8("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"), r + r + r + r + r + "A" + r + r + "B");
  EXPECT_EQ(replace_invalid_utf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), r + r + r + r + "A");
}

// The last character must be whole, and nothing after it is looked at; what is left of it is one maximal part.
TEST(Utf8StressTest, CutOffByTheEndOfTheText) {
  EXPECT_EQ(valid_utf8_prefix(""), 0u);
  for (const std::string whole : {"a", "é", "€", "\U0001F600", "\U0010FFFF"}) {
    EXPECT_EQ(valid_utf8_prefix(std::string("a") + whole), 1 + whole.size());
    for (size_t length = 1; length < whole.size(); ++length) {
      const std::string cut = std::string("a").append(whole, 0, length);
      EXPECT_EQ(valid_utf8_prefix(cut), 1u) << whole << " " << length;
      EXPECT_EQ(replace_invalid_utf8(cut), "a\uFFFD") << whole << " " << length;
    }
  }
  for (const char* alone : {"\x80", "\xC1", "\xF5", "\xFE"}) EXPECT_EQ(valid_utf8_prefix(alone), 0u);
}

// Every lead byte with every second byte: valid exactly as the Unicode Standard's table 3-7 says.
TEST(Utf8StressTest, EveryPairOfFirstBytes) {
  for (int lead = 0x80; lead < 0x100; ++lead) {
    for (int second = 0; second < 0x100; ++second) {
      const int length = lead < 0xC2 || lead > 0xF4 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
      const int low = lead == 0xE0   ? 0xA0
                      : lead == 0xF0 ? 0x90
                                     : 0x80,
                high = lead == 0xED   ? 0x9F
                       : lead == 0xF4 ? 0x8F
                                      : 0xBF;
      const bool valid = length > 0 && second >= low && second <= high;
      std::string text{static_cast<char>(lead), static_cast<char>(second)};
      text.append(static_cast<size_t>(std::max(0, length - 2)), '\x80');
      EXPECT_EQ(valid_utf8_prefix(text) == text.size(), valid) << lead << " " << second;
      EXPECT_EQ(valid_utf8_prefix(replace_invalid_utf8(text)), replace_invalid_utf8(text).size());
    }
  }
}

}  // namespace
}  // namespace glass
