#pragma once

#include "shared/os/os.h"
#include "source/kmd/kmd.h"

#include <cstdint>

namespace causeway::kmd::soft {

/// The kind check of a descriptor that a peer sent in a conversation (ipc.md): of the file system
/// that its kind lives on, impossible to cut, large enough. Answers the file's size. Errors:
/// InvalidArgument, or what the kernel said of a descriptor it cannot judge.
[[nodiscard]] Result<uint64_t> checkImport(Os &os, int fd, const ImportInfo &info);

} // namespace causeway::kmd::soft
