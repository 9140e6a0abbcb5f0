#pragma once

#include "shared/base/result.h"
#include "shared/os/os.h"
#include "source/copy/commands.h"
#include "source/copy/data_mover.h"
#include "source/copy/word_wait.h"

#include <span>

namespace causeway::copy {

/// Runs all commands of the batches of a submission on the calling thread. True: all are done.
/// False: a stop flag was raised during a wait or before a command; the rest has not run. Errors:
/// the first command's that fails (InvalidSize of a copy or fill; DeviceLost where its memory is
/// gone; of a wait as of waitUntilSet; OutOfHostMemory); the rest has not run.
Result<bool> runBatches(Os &os,
                        DataMover &mover,
                        std::span<const BatchRef> batches,
                        const StopFlags &stop);

} // namespace causeway::copy
