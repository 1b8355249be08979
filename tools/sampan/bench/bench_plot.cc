// Plots rates over sizes as one self-contained SVG file.
#include "tools/sampan/bench/bench_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <sstream>

#include "tools/sampan/shared/output/quantities.h"

namespace sampan::tool {
namespace {

constexpr double kLeft = 70, kTitle = 26, kWidth = 640, kHeight = 320, kLegend = 250, kLegendStep = 22;
constexpr double kAbove = 46, kBelow = 54;  ///< of the axes of a chart
constexpr double kRight = kLeft + kWidth;

/// Colours that differ clearly on light and on dark background.
constexpr std::array kColours = {"#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#ee7733",
                                 "#44aa99", "#7766dd", "#888888", "#bb5500", "#0099dd", "#cc99bb", "#99aa00",
                                 "#dd3333", "#5588ff", "#cc8800", "#00aa66", "#aa88ff", "#ff88aa", "#779999"};

struct Point {
  std::size_t bytes;
  double rate;
};

struct Line {
  std::string name;
  std::vector<Point> sampan;
  std::vector<Point> loop;
};

/// The paths of one group.
struct Chart {
  std::string group;
  std::vector<Line> lines;

  double height() const {
    return std::max(kAbove + kHeight + kBelow,
                    kAbove + 10 + kLegendStep * static_cast<double>(lines.size() + 1));
  }
};

std::vector<Chart> ChartsOf(const std::vector<BenchResult>& results) {
  std::vector<Chart> charts;
  for (const BenchResult& result : results) {
    if (!result.measured() || !result.bench.has_rate()) continue;
    const std::string group(result.bench.group);
    if (charts.empty() || charts.back().group != group) charts.push_back({.group = group});
    std::vector<Line>& lines = charts.back().lines;
    const std::string& name = result.bench.path;
    if (lines.empty() || lines.back().name != name) lines.push_back({.name = name});
    const std::size_t bytes = result.bench.bytes;
    const auto rate = [&](const bench::Timing& timing) {
      return result.gigabytes_per_second(timing.median_seconds);
    };
    lines.back().sampan.push_back({bytes, rate(result.measurement.sampan)});
    lines.back().loop.push_back({bytes, rate(result.measurement.alternative)});
  }
  return charts;
}

/// Maps sizes and rates to positions in the picture.
class Axes {
 public:
  /// `top` is where the chart begins.
  Axes(const std::vector<Line>& lines, double top) : top_(top + kAbove) {
    for (const Line& line : lines) {
      for (const std::vector<Point>* points : {&line.sampan, &line.loop}) {
        for (const Point& point : *points)
          Include(point);
      }
    }
    min_power_ = static_cast<int>(std::floor(std::log10(min_rate_)));
    max_power_ = std::max(static_cast<int>(std::ceil(std::log10(max_rate_))), min_power_ + 1);
  }

  double X(std::size_t bytes) const {
    const double span =
        std::log2(static_cast<double>(max_bytes_)) - std::log2(static_cast<double>(min_bytes_));
    if (span == 0) return (kLeft + kRight) / 2;
    return kLeft + kWidth *
                       (std::log2(static_cast<double>(bytes)) - std::log2(static_cast<double>(min_bytes_))) /
                       span;
  }
  double Y(double rate) const {
    return bottom() - kHeight * (std::log10(rate) - min_power_) / (max_power_ - min_power_);
  }
  double top() const { return top_; }
  double bottom() const { return top_ + kHeight; }
  int min_power() const { return min_power_; }
  int max_power() const { return max_power_; }

 private:
  void Include(const Point& point) {
    min_bytes_ = std::min(min_bytes_, point.bytes);
    max_bytes_ = std::max(max_bytes_, point.bytes);
    min_rate_ = std::min(min_rate_, point.rate);
    max_rate_ = std::max(max_rate_, point.rate);
  }

  double top_;
  std::size_t min_bytes_ = SIZE_MAX;
  std::size_t max_bytes_ = 1;
  double min_rate_ = 1e9;
  double max_rate_ = 1e-9;
  int min_power_;
  int max_power_;
};

void DrawAxes(std::ostream& svg, const Axes& axes, const std::vector<Line>& lines) {
  for (int power = axes.min_power(); power <= axes.max_power(); ++power) {
    const double rate = std::pow(10.0, power);
    svg << "<line class='grid' x1='" << kLeft << "' x2='" << kRight << "' y1='" << axes.Y(rate) << "' y2='"
        << axes.Y(rate) << "'/><text x='" << kLeft - 8 << "' y='" << axes.Y(rate) + 4
        << "' text-anchor='end'>" << rate << "</text>\n";
  }
  std::map<std::size_t, double> sizes;
  for (const Line& line : lines) {
    for (const Point& point : line.sampan)
      sizes.emplace(point.bytes, axes.X(point.bytes));
  }
  double last_label = -1e9;
  for (const auto& [bytes, x] : sizes) {
    svg << "<line class='grid' x1='" << x << "' x2='" << x << "' y1='" << axes.top() << "' y2='"
        << axes.bottom() << "'/>";
    if (x - last_label < 52) continue;  // labels would overlap
    last_label = x;
    svg << "<text x='" << x << "' y='" << axes.bottom() + 18 << "' text-anchor='middle'>" << ShowBytes(bytes)
        << "</text>\n";
  }
  svg << "<text x='" << kLeft << "' y='" << axes.top() - 12 << "'>GB/s</text>\n<text x='" << kRight << "' y='"
      << axes.bottom() + 38 << "' text-anchor='end'>bytes of one call</text>\n";
}

void DrawLine(std::ostream& svg, const Axes& axes, const std::vector<Point>& points, const char* colour,
              bool dashed) {
  svg << "<polyline fill='none' stroke='" << colour << "' "
      << (dashed ? "stroke-width='1.2' stroke-dasharray='4 4' opacity='0.7'" : "stroke-width='2.2'")
      << " points='";
  for (const Point& point : points)
    svg << axes.X(point.bytes) << "," << axes.Y(point.rate) << " ";
  svg << "'/>\n";
}

void DrawChart(std::ostream& svg, const Chart& chart, double top, const std::string& alternative) {
  const Axes axes(chart.lines, top);
  svg << "<text x='" << kLeft << "' y='" << top + 14 << "' font-size='14' class='group'>" << chart.group
      << "</text>\n";
  DrawAxes(svg, axes, chart.lines);
  const auto legend_y = [&](std::size_t line) {
    return axes.top() + 10 + kLegendStep * static_cast<double>(line);
  };
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const Line& line = chart.lines[i];
    const char* colour = kColours[i % kColours.size()];
    DrawLine(svg, axes, line.loop, colour, true);
    DrawLine(svg, axes, line.sampan, colour, false);
    for (const Point& point : line.sampan) {
      svg << "<circle cx='" << axes.X(point.bytes) << "' cy='" << axes.Y(point.rate) << "' r='3.5' fill='"
          << colour << "'><title>" << chart.group << ", " << line.name << ", " << ShowBytes(point.bytes)
          << ": " << ShowRate(point.rate) << " GB/s</title></circle>\n";
    }
    svg << "<rect x='" << kRight + 20 << "' y='" << legend_y(i) - 9 << "' width='12' height='12' fill='"
        << colour << "'/><text x='" << kRight + 40 << "' y='" << legend_y(i) + 2 << "'>" << line.name
        << "</text>\n";
  }
  svg << "<text x='" << kRight + 20 << "' y='" << legend_y(chart.lines.size()) + 2
      << "' opacity='0.8'>dashed: " << alternative << "</text>\n";
}

}  // namespace

std::string BenchPlot(const std::vector<BenchResult>& results, const std::string& alternative) {
  const std::vector<Chart> charts = ChartsOf(results);
  double height = kTitle + (charts.empty() ? kAbove : 0);
  for (const Chart& chart : charts)
    height += chart.height();
  std::ostringstream svg;
  svg << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << kRight + kLegend << " " << height
      << "' font-family='system-ui, sans-serif' font-size='12'>\n"
         "<title>Copies: rate over size</title>\n"
         "<style>.ground{fill:#fff}text{fill:#222}.grid{stroke:#ccc;stroke-width:.6}"
         "@media(prefers-color-scheme:dark){.ground{fill:#16181d}text{fill:#ddd}.grid{stroke:#444}}</style>\n"
         "<rect class='ground' width='100%' height='100%'/>\n"
         "<text x='"
      << kLeft << "' y='18' font-size='15'>Sampan " SAMPAN_VERSION ": copies, rate over size</text>\n";
  if (charts.empty())
    svg << "<text x='" << kLeft << "' y='" << kAbove + 10 << "'>nothing was measured</text>\n";
  double top = kTitle;
  for (const Chart& chart : charts) {
    DrawChart(svg, chart, top, alternative);
    top += chart.height();
  }
  svg << "</svg>\n";
  return svg.str();
}

}  // namespace sampan::tool
