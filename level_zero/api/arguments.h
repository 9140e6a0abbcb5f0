#pragma once

#include "shared/base/address.h"
#include "shared/base/result.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

/// Small habits of the C interface that many entry points share.
namespace causeway::api {

/// `return nullPointer("pptr");`
[[nodiscard]] inline std::unexpected<Error> nullPointer(std::string_view name) {
    return fail(Status::InvalidNullPointer, "{} is null", name);
}

/// Errors: InvalidEnumeration where a bit is set that `known` lacks.
[[nodiscard]] inline Result<void> checkFlags(std::string_view name,
                                             uint32_t flags,
                                             uint32_t known) {
    if ((flags & ~known) != 0) {
        return fail(Status::InvalidEnumeration,
                    "{} is {:#x}; only the bits {:#x} have a meaning",
                    name,
                    flags,
                    known);
    }
    return {};
}

/// The count-and-array idiom: without an array, or with count 0, tells how many there are; else
/// writes as many as fit with `write(item, index)` and tells how many it wrote. `pCount` is not
/// null.
template <typename Item, typename Write>
void writeCounted(uint32_t *pCount, Item *items, uint32_t available, Write &&write) {
    if (*pCount == 0 || items == nullptr) {
        *pCount = available;
        return;
    }
    *pCount = std::min(*pCount, available);
    for (uint32_t i = 0; i < *pCount; ++i) {
        write(items[i], i);
    }
}

/// Zeroes what a query is about to fill; the structure's type and chain are the caller's.
template <typename Properties>
void clearProperties(Properties &properties) {
    const auto stype = properties.stype;
    auto *const pNext = properties.pNext;
    properties = {};
    properties.stype = stype;
    properties.pNext = pNext;
}

/// Copies a name, cut to fit and always terminated.
template <size_t N>
void writeName(char (&target)[N], std::string_view name) {
    target[name.copy(target, N - 1)] = '\0';
}

} // namespace causeway::api
