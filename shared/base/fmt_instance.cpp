// The one translation unit that compiles fmt. Everywhere else <fmt/core.h> is included, which is
// ten times quicker to compile than the header-only mode, and finds the definitions here. Why not
// Debian's own libfmt: the static one need not fit into a shared object, and a shared one would be
// a second copy of a library that the application may carry in another version.
#define FMT_HEADER_ONLY 1
#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace causeway {

// In header-only mode fmt's functions are inline: taking their address makes the compiler emit
// them.
[[gnu::used]] std::string (*const formatInstance)(fmt::string_view,
                                                  fmt::format_args) = &fmt::vformat;
[[gnu::used]] void (*const printInstance)(fmt::string_view, fmt::format_args) = &fmt::vprint;
[[gnu::used]] void (*const filePrintInstance)(std::FILE *,
                                              fmt::string_view,
                                              fmt::format_args) = &fmt::vprint;

} // namespace causeway
