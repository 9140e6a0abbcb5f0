#include "source/kmd/soft/import_check.h"

#include <fcntl.h>
#include <linux/magic.h>

namespace causeway::kmd::soft {
namespace {

constexpr int64_t dmaBufMagic = 0x444d4142; // "DMAB"; not in every linux/magic.h

Result<void> checkFileSystem(Os &os, int fd, ObjectKind kind) {
    // A hugetlb memfd maps and then faults for lack of pages. Only the file system tells it apart
    // for sure: st_blksize is that of a huge page also where tmpfs uses transparent huge pages.
    const auto type = os.fileSystemType(fd);
    if (!type) {
        return failWith(type.error(), "fstatfs of a descriptor that a peer sent");
    }
    const int64_t wanted = kind == ObjectKind::DmaBuf ? dmaBufMagic : TMPFS_MAGIC;
    if (*type != wanted) {
        return fail(Status::InvalidArgument,
                    "the descriptor that a peer sent as a {} is none: file system type {:#x}",
                    toString(kind),
                    *type);
    }
    return {};
}

Result<void> checkSeals(Os &os, int fd) {
    // Unsealed, the file could be cut under our mappings.
    constexpr int wanted = F_SEAL_SHRINK | F_SEAL_GROW;
    const auto seals = os.seals(fd);
    if (!seals) {
        return failWith(seals.error(), "reading the seals of a memfd that a peer sent");
    }
    if ((*seals & wanted) != wanted) {
        return fail(Status::InvalidArgument,
                    "the memfd that a peer sent can still change its size (seals {:#x})",
                    *seals);
    }
    return {};
}

} // namespace

Result<uint64_t> checkImport(Os &os, int fd, const ImportInfo &info) {
    auto checked = checkFileSystem(os, fd, info.kind);
    if (checked && info.kind == ObjectKind::Memfd) {
        checked = checkSeals(os, fd);
    }
    if (!checked) {
        return forward(checked);
    }
    const auto file = os.fileInfo(fd);
    if (!file) {
        return failWith(file.error(), "fstat of a descriptor that a peer sent");
    }
    if (info.sizeBytes == 0 || file->sizeBytes < info.sizeBytes) {
        return fail(Status::InvalidArgument,
                    "a peer promised an object of {} bytes and sent a {} of {} bytes",
                    info.sizeBytes,
                    toString(info.kind),
                    file->sizeBytes);
    }
    return file->sizeBytes;
}

} // namespace causeway::kmd::soft
