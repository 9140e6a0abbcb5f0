#include "source/kmd/published_file.h"

#include <utility>

namespace causeway::kmd {

Result<PublishedFile::Number> PublishedFile::number() {
    const MutexLock lock(mutex_);
    if (!copy_.isStillOurs()) {
        auto fresh = os_.duplicate(file_);
        if (!fresh) {
            return failWith(fresh.error(), "duplicating the descriptor of an object");
        }
        const auto info = os_.fileInfo(fresh->get());
        if (!info) {
            return failWith(info.error(), "fstat of an object");
        }
        copy_ = PublicFd(os_, std::move(*fresh), *info);
    }
    return Number{.fd = copy_.get(), .file = copy_.file()};
}

std::shared_ptr<PublishedFile> FilePublisher::publish(Os &os, int file, PublishUntil until) {
    const MutexLock lock(mutex_);
    auto published = current_.lock();
    if (published == nullptr) {
        published = std::make_shared<PublishedFile>(os, file);
        current_ = published;
    }
    if (until == PublishUntil::MemoryIsGone) {
        kept_ = published;
    }
    return published;
}

} // namespace causeway::kmd
