#pragma once

#include "shared/os/os.h"

#include <cstdint>
#include <string>

namespace causeway::kmd::soft {

/// A sparse memfd of `sizeBytes` zeros whose size and seals nobody can change any more.
[[nodiscard]] OsResult<UniqueFd> makeSealedFile(Os &os,
                                                const std::string &name,
                                                uint64_t sizeBytes);

/// No descriptor is left in this process or this machine.
[[nodiscard]] bool isDescriptorShortage(Errno error);

} // namespace causeway::kmd::soft
