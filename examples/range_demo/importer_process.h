#pragma once

#include "examples/range_demo/channel.h"

#include <sys/types.h>

#include <string>
#include <vector>

namespace range_demo {

/// This program started a second time, as a process of its own that has nothing in common with this
/// one but two pipes. Owns the process: it is reaped in any case, and killed first where the
/// destructor finds it at work.
class ImporterProcess {
  public:
    /// `arguments` as on a command line; the numbers of the pipes are added as "--pipes IN OUT".
    explicit ImporterProcess(std::vector<std::string> arguments);
    ~ImporterProcess();
    ImporterProcess(const ImporterProcess &) = delete;
    ImporterProcess &operator=(const ImporterProcess &) = delete;
    ImporterProcess(ImporterProcess &&) = delete;
    ImporterProcess &operator=(ImporterProcess &&) = delete;

    Channel &channel() { return channel_; }

    /// Waits for the end, and kills the process if it does not come in time. Throws unless the exit
    /// code is 0.
    void finish();

  private:
    ImporterProcess(std::vector<std::string> arguments, Pipe toImporter, Pipe fromImporter);

    void reap();

    Channel channel_;
    pid_t pid_ = -1; ///< -1 once reaped
    int status_ = 0; ///< as of waitpid
};

} // namespace range_demo
