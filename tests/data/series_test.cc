#include "glassformer/data/series.h"

#include <cmath>
#include <numbers>

#include "data/files.h"

namespace glass {
namespace {

using Names = std::vector<std::string>;
using Row = std::vector<double>;

TEST(CsvFile, ColumnsByNameOrNumberInTheOrderAskedFor) {
  const TemporaryFolder folder;
  const std::string path =
      folder.put("a.csv", "\uFEFFdate,load,\"oil, \"\"hot\"\"\"\r\n1/7,+1.5, -2e3\r\n2/7,\"3\",4\r\n\r\n");
  EXPECT_EQ(read_csv(path, {}).columns, (Names{"load", "oil, \"hot\""}));
  EXPECT_EQ(read_csv(path, {}).rows, (std::vector<Row>{{1.5, -2000}, {3, 4}}));
  EXPECT_EQ(read_csv(path, {"3", "load"}).rows[0], (Row{-2000, 1.5}));
  EXPECT_EQ(read_csv(path, {"3", "load"}).columns, (Names{"oil, \"hot\"", "load"}));
  EXPECT_EQ(read_csv(path, {"oil, \"hot\""}).rows[1], (Row{4}));
  const std::string message = message_of([&] { read_csv(path, {"4"}); });
  EXPECT_TRUE(contains(message, "no column \"4\"; it has date, load, oil")) << message;
}

TEST(CsvFile, WithoutAHeaderNoRowIsLost) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_csv(folder.put("a.csv", "1,2\n3,4"), {}).rows, (std::vector<Row>{{1, 2}, {3, 4}}));
  EXPECT_EQ(read_csv(folder.path("a.csv"), {"2"}).rows, (std::vector<Row>{{2}, {4}}));
  const Series dated = read_csv(folder.put("b.csv", "2016-07-01,5\n2016-07-02,6\n"), {});
  EXPECT_EQ(dated.columns, (Names{"2"}));
  EXPECT_EQ(dated.rows, (std::vector<Row>{{5}, {6}}));
  const std::string gap = folder.put("c.csv", "1,,3\n4,5,6\n");
  EXPECT_TRUE(contains(message_of([&] { read_csv(gap, {"2"}); }), gap + ":1:2: column \"2\" holds no finite number"));
  // Years are numbers: only a name that is asked for tells that they stand in a header.
  const std::string years = folder.put("d.csv", "place,2019,2020,growth\nhere,1,2,3\n");
  EXPECT_EQ(read_csv(years, {"2020", "growth"}).rows, (std::vector<Row>{{2, 3}}));
}

TEST(CsvFile, FaultsNameFileLineAndColumn) {
  const TemporaryFolder folder;
  for (const char* cell : {"", "x", "nan", "inf", "1e999", "1.5x", "--1", "+-1", "0x10", "1 2"}) {
    const std::string path = folder.put("a.csv", std::string("a,b\n1,2\n3,") + cell + "\n5,6\n");
    EXPECT_TRUE(contains(message_of([&] { read_csv(path, {}); }), path + ":3:2: column \"b\"")) << cell;
  }
  const std::string narrow = folder.put("b.csv", "a,b\n1,2\n3\n");
  EXPECT_TRUE(contains(message_of([&] { read_csv(narrow, {}); }), narrow + ":3:2:"));
  EXPECT_EQ(read_csv(narrow, {"a"}).rows.size(), 2u);
  const std::string gap = folder.put("e.csv", "a\n1\n\n2\n");  // blank lines may only end a file
  EXPECT_TRUE(contains(message_of([&] { read_csv(gap, {}); }), gap + ":3"));
  EXPECT_TRUE(contains(message_of([&] { read_csv(folder.put("c.csv", "a,b\n"), {}); }), "no rows of data"));
  EXPECT_TRUE(contains(message_of([&] { read_csv(folder.put("d.csv", "a\tb\n1\t2\n"), {}); }), "fields end at commas"));
  EXPECT_TRUE(contains(message_of([&] { read_csv(folder.path("none.csv"), {}); }), "none.csv"));
}

TEST(CsvFile, EachColumnHasANameOfItsOwn) {
  const TemporaryFolder folder;
  const std::string path = folder.put("a.csv", "day,a,a,b\nx,1,2,3\n");
  EXPECT_TRUE(contains(message_of([&] { read_csv(path, {}); }), "two of its columns are called \"a\""));
  EXPECT_TRUE(contains(message_of([&] { read_csv(path, {"b", "b"}); }), "\"b\""));
  EXPECT_EQ(read_csv(path, {"b"}).rows, (std::vector<Row>{{3}}));
  // In no encoding that is asked for: numbers are the same in all.
  EXPECT_EQ(read_csv(folder.put("b.csv",
                                "Temp \xB0"
                                "C,b\n1,2\n"),
                     {"b"})
                .rows,
            (std::vector<Row>{{2}}));
}

Series counting(int rows) {
  Series series{{"up", "constant"}, {}};
  for (int i = 0; i < rows; ++i) series.rows.push_back({static_cast<double>(i), 0.1});
  return series;
}

TEST(SeriesStatistics, AreOfTheGivenRowsOnly) {
  Series series = counting(10);
  series.rows[9] = {1000, 1000};
  const ColumnStatistics statistics = column_statistics(series, 0, 9);
  EXPECT_DOUBLE_EQ(statistics.mean[0], 4);
  EXPECT_DOUBLE_EQ(statistics.deviation[0], std::sqrt(60.0 / 9));
  EXPECT_DOUBLE_EQ(statistics.mean[1], 0.1);
  EXPECT_EQ(statistics.deviation[1], 1);  // not the rounding of the mean
  EXPECT_EQ(column_statistics(series, 3, 3).deviation[0], 1);
  EXPECT_THROW(column_statistics(series, -1, 5), ValueError);
  EXPECT_THROW(column_statistics(series, 0, 11), ValueError);
}

TEST(SeriesWindows, StartEveryStrideRows) {
  const Series series = counting(20);
  const Windows windows = make_windows(series, 2, 20, 4, 2, {1, 0.1}, {2, 1}, 5);
  EXPECT_EQ(windows.history.shape(), (Shape{3, 4, 2}));
  EXPECT_EQ(windows.future.shape(), (Shape{3, 2, 2}));
  EXPECT_EQ(windows.history.at({1, 0, 0}), (7 - 1) / 2.0);
  EXPECT_EQ(windows.future.at({2, 1, 0}), (17 - 1) / 2.0);
  EXPECT_EQ(windows.future.at({2, 1, 1}), 0);
  const Windows all = make_windows(series, 0, 20, 4, 2, {1, 0}, {2, 1});
  EXPECT_EQ(all.count(), 15);
  EXPECT_EQ(all.history.at({14, 3, 0}), (17 - 1) / 2.0);
  EXPECT_EQ(all.future.at({14, 1, 0}), (19 - 1) / 2.0);  // the last row is not dropped
  EXPECT_EQ(make_windows(series, 0, 6, 4, 2, {1, 0}, {2, 1}, 100).count(), 1);
}

TEST(SeriesWindows, WrongSizesAreRefused) {
  const Series series = counting(20);
  const Row mean{0, 0}, deviation{1, 1};
  EXPECT_TRUE(contains(message_of([&] { make_windows(series, 0, 5, 4, 2, mean, deviation); }), "5 rows are fewer"));
  EXPECT_THROW(make_windows(series, 0, 21, 4, 2, mean, deviation), ValueError);
  EXPECT_THROW(make_windows(series, -3, 20, 4, 2, mean, deviation), ValueError);
  EXPECT_THROW(make_windows(series, 0, 20, 0, 2, mean, deviation), ValueError);
  EXPECT_THROW(make_windows(series, 0, 20, 4, 2, mean, deviation, 0), ValueError);
  EXPECT_THROW(make_windows(series, 0, 20, 4, 2, {0}, deviation), ValueError);
}

TEST(Sine, TutorialIsOneCurveAndNoise) {
  const Windows clean = sine_tutorial(3, 10, 5, 0, 1);
  for (Dim step = 0; step < 10; ++step) {
    // float32 of a number up to 1 is within 6e-8.
    EXPECT_NEAR(clean.history.at({2, step, 0}), std::sin(4 * std::numbers::pi / 14 * static_cast<double>(step)), 1e-7);
  }
  EXPECT_NEAR(clean.future.at({0, 4, 0}), 0, 1e-7);  // 4π is the last point
  const Windows noisy = sine_tutorial(1000, 10, 5, 0.05, 1);
  double squares = 0;
  for (Dim window = 0; window < 1000; ++window) {
    squares += std::pow(noisy.future.at({window, 2, 0}) - clean.future.at({0, 2, 0}), 2);
  }
  // The deviation of 1000 draws is within 10 % of the true one by more than 4 of its own deviations (1/sqrt(2000)).
  EXPECT_NEAR(std::sqrt(squares / 1000), 0.05, 0.005);
  EXPECT_EQ(sine_tutorial(5, 10, 5, 0.05, 1).history.to_vector(), sine_tutorial(5, 10, 5, 0.05, 1).history.to_vector());
  EXPECT_NE(sine_tutorial(5, 10, 5, 0.05, 2).history.to_vector(), sine_tutorial(5, 10, 5, 0.05, 1).history.to_vector());
}

// Without noise x[t+1] + x[t−1] = 2 cos(f) x[t] holds with one frequency per window, and frequencies differ.
TEST(Sine, RandomHasItsOwnFrequencyAndPhaseInEachWindow) {
  const Windows windows = sine_random(200, 10, 5, 0, 3);
  double least = 10, most = 0;
  for (Dim window = 0; window < 200; ++window) {
    double product = 0, square = 0;
    for (Dim t = 1; t < 9; ++t) {
      const double x = windows.history.at({window, t, 0});
      product += x * (windows.history.at({window, t + 1, 0}) + windows.history.at({window, t - 1, 0}));
      square += x * x;
    }
    const double twice_cosine = product / square;
    const double next = twice_cosine * windows.history.at({window, 9, 0}) - windows.history.at({window, 8, 0});
    EXPECT_NEAR(windows.future.at({window, 0, 0}), next, 1e-5);  // float32 rounding, some ten operations
    const double frequency = std::acos(twice_cosine / 2) / (4 * std::numbers::pi / 14);
    least = std::min(least, frequency);
    most = std::max(most, frequency);
  }
  EXPECT_GE(least, 0.499);
  EXPECT_LT(least, 0.6);
  EXPECT_GT(most, 1.4);
  EXPECT_LE(most, 1.501);
  EXPECT_NE(sine_random(5, 10, 5, 0, 4).history.to_vector(), sine_random(5, 10, 5, 0, 3).history.to_vector());
}

}  // namespace
}  // namespace glass
