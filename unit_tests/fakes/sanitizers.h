#pragma once

/// For tests that skip by name what a sanitizer cannot run.
namespace causeway::fakes {

#if defined(__has_feature)
#define CAUSEWAY_HAS_FEATURE(x) __has_feature(x)
#else
#define CAUSEWAY_HAS_FEATURE(x) 0
#endif

/// Does not follow forks of a process with threads.
#if defined(__SANITIZE_THREAD__) || CAUSEWAY_HAS_FEATURE(thread_sanitizer)
inline constexpr bool underThreadSanitizer = true;
#else
inline constexpr bool underThreadSanitizer = false;
#endif

#if defined(__SANITIZE_ADDRESS__) || CAUSEWAY_HAS_FEATURE(address_sanitizer)
inline constexpr bool underAddressSanitizer = true;
#else
inline constexpr bool underAddressSanitizer = false;
#endif

/// Both cut the address space in pieces for their own use.
inline constexpr bool hugeReservationsWork = !underThreadSanitizer && !underAddressSanitizer;

#undef CAUSEWAY_HAS_FEATURE

} // namespace causeway::fakes
