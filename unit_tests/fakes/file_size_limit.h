#pragma once

#include <sys/resource.h>

namespace causeway::fakes {

/// Lowers RLIMIT_FSIZE for this process and those that it starts, and puts it back.
class FileSizeLimit {
  public:
    explicit FileSizeLimit(rlim_t sizeBytes) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit lowered = {.rlim_cur = sizeBytes, .rlim_max = before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &lowered);
    }

    FileSizeLimit(const FileSizeLimit &) = delete;
    FileSizeLimit &operator=(const FileSizeLimit &) = delete;

    ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

  private:
    rlimit before_ = {};
};

} // namespace causeway::fakes
