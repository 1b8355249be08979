// One HTML page with everything in it, for the commands that make one.
#include "tools/sampan/shared/page/html_page.h"

#include <zlib.h>

#include <array>
#include <new>

namespace sampan::tool {
namespace {

std::string Gzip(std::string_view text) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string packed;
  std::array<char, 65536> part;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  int code = Z_OK;
  while (code != Z_STREAM_END) {
    // The library counts what it is given in 32 bits.
    if (stream.avail_in == 0) {
      const auto rest =
          static_cast<std::size_t>(text.data() + text.size() - reinterpret_cast<char*>(stream.next_in));
      stream.avail_in = static_cast<uInt>(std::min<std::size_t>(rest, 1U << 30));
    }
    const bool is_last =
        reinterpret_cast<char*>(stream.next_in) + stream.avail_in == text.data() + text.size();
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = part.size();
    code = ::deflate(&stream, is_last ? Z_FINISH : Z_NO_FLUSH);
    packed.append(part.data(), part.size() - stream.avail_out);
  }
  ::deflateEnd(&stream);
  return packed;
}

std::string Base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve(bytes.size() / 3 * 4 + 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(bytes.size() - at, 3);
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 3; ++i)
      word = word << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      text += i <= count ? kDigits[word >> (18 - 6 * i) & 63U] : '=';
  }
  return text;
}

}  // namespace

std::string HtmlPage(const PageSources& sources, std::string_view json) {
  std::string page;
  std::string_view rest = sources.page;
  const auto fill = [&](std::string_view place, std::string_view contents) {
    const auto at = rest.find(place);
    page.append(rest.substr(0, at)).append(contents);
    rest.remove_prefix(at + place.size());
  };
  fill("@STYLE@", sources.style);
  fill("@DATA@", Base64(Gzip(json)));
  fill("@SCRIPT@", sources.script);
  return page.append(rest);
}

}  // namespace sampan::tool
