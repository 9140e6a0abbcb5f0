#pragma once

#include "shared/base/mutex.h"
#include "shared/base/result.h"
#include "shared/os/public_fd.h"

#include <cstdint>
#include <memory>

namespace causeway::kmd {

/// The descriptor of a file of one object that applications are told of: a duplicate, since some
/// close it. Any thread.
class PublishedFile {
  public:
    struct Number {
        int fd = -1;
        FileInfo file;
    };

    /// `file` is borrowed and open whenever number() is called.
    PublishedFile(Os &os, int file) : os_(os), file_(file) {}

    /// The same each time, made at the first call, and anew where an application closed it.
    /// Errors: OutOfHostMemory (no descriptor left).
    [[nodiscard]] Result<Number> number();

  private:
    Os &os_;
    const int file_;
    Mutex mutex_;
    PublicFd copy_ GUARDED_BY(mutex_);
};

/// How long a published descriptor stays open.
enum class PublishUntil : uint8_t {
    NobodyHoldsIt,
    MemoryIsGone, ///< the application may use the number as long as the object lives
};

/// What a backing publishes: one descriptor, however many ask. Any thread.
class FilePublisher {
  public:
    /// `file`: the backing's, borrowed and always the same.
    [[nodiscard]] std::shared_ptr<PublishedFile> publish(Os &os, int file, PublishUntil until);

  private:
    Mutex mutex_;
    std::weak_ptr<PublishedFile> current_ GUARDED_BY(mutex_);
    std::shared_ptr<PublishedFile> kept_ GUARDED_BY(mutex_);
};

} // namespace causeway::kmd
