// Rates over sizes as a picture: one self-contained SVG file.
#include "tools/sampan/bench/bench_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <sstream>

#include "tools/sampan/shared/output/quantities.h"

namespace sampan::tool {
namespace {

constexpr double kLeft = 70, kTop = 46, kWidth = 640, kHeight = 400, kLegend = 250, kLegendStep = 22;
constexpr double kRight = kLeft + kWidth;
constexpr double kBottom = kTop + kHeight;

/// Colours that can be told apart, on light and on dark ground.
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

std::vector<Line> LinesOf(const std::vector<BenchResult>& results) {
  std::vector<Line> lines;
  for (const BenchResult& result : results) {
    if (!result.measured() || !result.bench.has_rate()) continue;
    const std::string name = std::string(result.bench.group) + ", " + result.bench.path;
    if (lines.empty() || lines.back().name != name) lines.push_back({.name = name});
    const std::size_t bytes = result.bench.bytes;
    const auto rate = [&](const bench::Timing& timing) {
      return result.gigabytes_per_second(timing.median_seconds);
    };
    lines.back().sampan.push_back({bytes, rate(result.measurement.sampan)});
    lines.back().loop.push_back({bytes, rate(result.measurement.alternative)});
  }
  return lines;
}

/// From sizes and rates to places in the picture.
class Axes {
 public:
  explicit Axes(const std::vector<Line>& lines) {
    for (const Line& line : lines) {
      for (const std::vector<Point>* points : {&line.sampan, &line.loop}) {
        for (const Point& point : *points)
          Include(point);
      }
    }
    least_power_ = static_cast<int>(std::floor(std::log10(least_rate_)));
    most_power_ = std::max(static_cast<int>(std::ceil(std::log10(most_rate_))), least_power_ + 1);
  }

  double X(std::size_t bytes) const {
    const double span =
        std::log2(static_cast<double>(most_bytes_)) - std::log2(static_cast<double>(least_bytes_));
    if (span == 0) return (kLeft + kRight) / 2;
    return kLeft +
           kWidth * (std::log2(static_cast<double>(bytes)) - std::log2(static_cast<double>(least_bytes_))) /
               span;
  }
  double Y(double rate) const {
    return kBottom - kHeight * (std::log10(rate) - least_power_) / (most_power_ - least_power_);
  }
  int least_power() const { return least_power_; }
  int most_power() const { return most_power_; }

 private:
  void Include(const Point& point) {
    least_bytes_ = std::min(least_bytes_, point.bytes);
    most_bytes_ = std::max(most_bytes_, point.bytes);
    least_rate_ = std::min(least_rate_, point.rate);
    most_rate_ = std::max(most_rate_, point.rate);
  }

  std::size_t least_bytes_ = SIZE_MAX;
  std::size_t most_bytes_ = 1;
  double least_rate_ = 1e9;
  double most_rate_ = 1e-9;
  int least_power_;
  int most_power_;
};

void DrawAxes(std::ostream& svg, const Axes& axes, const std::vector<Line>& lines) {
  for (int power = axes.least_power(); power <= axes.most_power(); ++power) {
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
    svg << "<line class='grid' x1='" << x << "' x2='" << x << "' y1='" << kTop << "' y2='" << kBottom
        << "'/>";
    if (x - last_label < 52) continue;  // labels would overlap
    last_label = x;
    svg << "<text x='" << x << "' y='" << kBottom + 18 << "' text-anchor='middle'>" << ShowBytes(bytes)
        << "</text>\n";
  }
  svg << "<text x='" << kLeft << "' y='" << kTop - 12 << "'>GB/s</text>\n<text x='" << kRight << "' y='"
      << kBottom + 38 << "' text-anchor='end'>bytes of one call</text>\n";
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

}  // namespace

std::string BenchPlot(const std::vector<BenchResult>& results, const std::string& alternative) {
  const std::vector<Line> lines = LinesOf(results);
  std::ostringstream svg;
  const double legend_end = kTop + 10 + kLegendStep * static_cast<double>(lines.size() + 1);
  svg << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << kRight + kLegend << " "
      << std::max(kBottom + 54, legend_end)
      << "' font-family='system-ui, sans-serif' font-size='12'>\n"
         "<title>Copies: rate over size</title>\n"
         "<style>.ground{fill:#fff}text{fill:#222}.grid{stroke:#ccc;stroke-width:.6}"
         "@media(prefers-color-scheme:dark){.ground{fill:#16181d}text{fill:#ddd}.grid{stroke:#444}}</style>\n"
         "<rect class='ground' width='100%' height='100%'/>\n"
         "<text x='"
      << kLeft << "' y='18' font-size='15'>Sampan " SAMPAN_VERSION ": copies, rate over size</text>\n";
  if (lines.empty()) {
    svg << "<text x='" << kLeft << "' y='" << kTop + 20 << "'>nothing was measured</text>\n";
  } else {
    const Axes axes(lines);
    DrawAxes(svg, axes, lines);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const char* colour = kColours[i % kColours.size()];
      DrawLine(svg, axes, lines[i].loop, colour, true);
      DrawLine(svg, axes, lines[i].sampan, colour, false);
      for (const Point& point : lines[i].sampan) {
        svg << "<circle cx='" << axes.X(point.bytes) << "' cy='" << axes.Y(point.rate) << "' r='3.5' fill='"
            << colour << "'><title>" << lines[i].name << ", " << ShowBytes(point.bytes) << ": "
            << ShowRate(point.rate) << " GB/s</title></circle>\n";
      }
      const double y = kTop + 10 + kLegendStep * static_cast<double>(i);
      svg << "<rect x='" << kRight + 20 << "' y='" << y - 9 << "' width='12' height='12' fill='" << colour
          << "'/><text x='" << kRight + 40 << "' y='" << y + 2 << "'>" << lines[i].name << "</text>\n";
    }
    const double y = kTop + 10 + kLegendStep * static_cast<double>(lines.size());
    svg << "<text x='" << kRight + 20 << "' y='" << y + 2 << "' opacity='0.8'>dashed: " << alternative
        << "</text>\n";
  }
  svg << "</svg>\n";
  return svg.str();
}

}  // namespace sampan::tool
