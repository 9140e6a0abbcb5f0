#include "shared/os/public_numbers.h"

#include "shared/os/fork.h"

namespace causeway {

PublicNumbers &PublicNumbers::ofProcess() {
    // Not the parent's after a fork: one of its threads may have held the lock. And never
    // destroyed: static destructors of applications may still put handles.
    static constinit PerProcess<PublicNumbers> numbers;
    return numbers.get();
}

PublicNumbers::Claim PublicNumbers::claim(int fd) {
    const MutexLock lock(mutex_);
    claims_[fd] = ++last_;
    count_ = claims_.size();
    return last_;
}

bool PublicNumbers::holds(int fd, Claim claim) const {
    const MutexLock lock(mutex_);
    const auto found = claims_.find(fd);
    return found != claims_.end() && found->second == claim;
}

void PublicNumbers::giveUp(int fd, Claim claim) {
    const MutexLock lock(mutex_);
    const auto found = claims_.find(fd);
    if (found != claims_.end() && found->second == claim) {
        claims_.erase(found);
        count_ = claims_.size();
    }
}

void PublicNumbers::given(int fd) {
    if (count_ == 0) {
        return;
    }
    const MutexLock lock(mutex_);
    claims_.erase(fd);
    count_ = claims_.size();
}

} // namespace causeway
