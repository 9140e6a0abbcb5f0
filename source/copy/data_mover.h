#pragma once

#include "shared/base/result.h"
#include "shared/os/os.h"
#include "source/copy/commands.h"
#include "source/copy/worker_pool.h"

#include <cstdint>

namespace causeway::copy {

struct CopyPlan;

struct MoverLimits {
    unsigned threads = 1; ///< that work on one command, the caller's included
    uint64_t splitFromBytes = uint64_t{4} << 20; ///< smaller work is the caller's alone
    uint64_t chunkBytes = uint64_t{512} << 10;   ///< that one thread takes at a time, about; a page
                                                 ///< at least
};

/// Executes copies and fills with the CPU. Work of some megabytes is shared out to the cores, in
/// chunks that end at page boundaries of the destination; copies whose sides overlap are not.
///
/// Threads: everything from any, several at once; the caller returns when its work is done, and
/// sees it. Addresses must be mapped throughout: a fault is the application's, as with memcpy.
class DataMover {
  public:
    /// As many threads as the machine has cores, but at most 8: memory is the bottleneck then.
    [[nodiscard]] static MoverLimits limitsOfMachine();

    explicit DataMover(Os &os, const MoverLimits &limits = limitsOfMachine());
    DataMover(const DataMover &) = delete;
    DataMover &operator=(const DataMover &) = delete;
    ~DataMover() = default;

    /// Errors: InvalidSize (see planCopy), and then nothing is copied.
    Result<void> copy(const CopyRegion &region);
    /// Errors: InvalidSize where it would reach beyond the address space; then nothing is written.
    Result<void> fill(const Fill &fill);

  private:
    void copyShared(const CopyPlan &plan);
    [[nodiscard]] bool isWorthSharing(uint64_t rows, uint64_t widthBytes) const;

    const MoverLimits limits_;
    WorkerPool pool_;
};

} // namespace causeway::copy
