#include "source/copy/commands.h"

#include "shared/base/checked.h"

#include <algorithm>

namespace causeway::copy {

Result<FillPattern> FillPattern::make(std::span<const std::byte> bytes) {
    if (bytes.size() > longest || !isPowerOfTwo(bytes.size())) {
        return fail(Status::InvalidSize,
                    "a pattern of {} bytes is not a power of two up to {}",
                    bytes.size(),
                    longest);
    }
    FillPattern pattern;
    std::ranges::copy(bytes, pattern.bytes_.begin());
    pattern.sizeBytes_ = bytes.size();
    return pattern;
}

} // namespace causeway::copy
