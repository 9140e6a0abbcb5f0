#include "source/kmd/soft/sealed_file.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>

namespace causeway::kmd::soft {
OsResult<UniqueFd> makeSealedFile(Os &os, const std::string &name, uint64_t sizeBytes) {
    auto file = os.memfdCreate(name, MFD_ALLOW_SEALING);
    if (!file) {
        return file;
    }
    auto done = os.truncate(file->get(), sizeBytes);
    if (done) {
        // F_SEAL_SEAL too: a peer could otherwise add F_SEAL_FUTURE_WRITE, and we could neither map
        // the file for writing nor punch holes any more.
        done = os.addSeals(file->get(), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    }
    if (!done) {
        return std::unexpected(done.error());
    }
    return file;
}

bool isDescriptorShortage(Errno error) {
    return error.value == EMFILE || error.value == ENFILE;
}

} // namespace causeway::kmd::soft
