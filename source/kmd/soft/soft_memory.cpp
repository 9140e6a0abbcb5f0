#include "source/kmd/soft/soft_memory.h"

#include <utility>

namespace causeway::kmd::soft {

OwnFile::OwnFile(Os &os, UniqueFd file, uint64_t sizeBytes, Charge bytes, Charge descriptor)
    : os_(os)
    , sizeBytes_(sizeBytes)
    , bytes_(std::move(bytes))
    , descriptor_(std::move(descriptor))
    , file_(std::move(file)) {}

Result<TravelFd> OwnFile::exportDescriptor(std::span<const Extent>) {
    return TravelFd::borrow(file_.get()); // nothing in it is ever reused: no lease
}

std::shared_ptr<PublishedFile> OwnFile::publish(PublishUntil until) {
    return publisher_.publish(os_, file_.get(), until);
}

ImportedFile::ImportedFile(
    Os &os, ObjectKind kind, UniqueFd file, uint64_t sizeBytes, std::optional<Charge> kept)
    : os_(os), kind_(kind), sizeBytes_(sizeBytes), kept_(std::move(kept)), file_(std::move(file)) {}

Result<TravelFd> ImportedFile::exportDescriptor(std::span<const Extent>) {
    const MutexLock lock(mutex_);
    if (!file_.valid()) {
        return fail(Status::UnsupportedFeature,
                    "imported memory cannot be exported again: its descriptor was closed once the "
                    "memory was mapped");
    }
    // Not borrowed: dropDescriptor() may close ours while the peer's is being sent.
    auto copy = os_.duplicate(file_.get());
    if (!copy) {
        return failWith(copy.error(), "duplicating the descriptor of imported memory");
    }
    return TravelFd::own(std::move(*copy));
}

std::shared_ptr<PublishedFile> ImportedFile::publish(PublishUntil until) {
    return kept_ ? publisher_.publish(os_, fd(), until) : nullptr;
}

int ImportedFile::fd() const {
    const MutexLock lock(mutex_);
    return file_.get();
}

void ImportedFile::dropDescriptor() {
    const MutexLock lock(mutex_);
    if (!kept_) {
        file_.reset();
    }
}

SoftMemory::SoftMemory(const Device &device,
                       const CreateInfo &info,
                       std::shared_ptr<SoftBacking> backing,
                       BankSlot slot)
    : device_(device)
    , owner_(device.properties().uuid)
    , placement_(info.placement)
    , sizeBytes_(info.sizeBytes)
    , softBacking_(*backing)
    , backing_(std::move(backing))
    , slot_(std::move(slot)) {}

SoftMemory::SoftMemory(const Device &device,
                       const ImportInfo &info,
                       std::shared_ptr<SoftBacking> backing)
    : device_(device)
    , owner_(info.owner)
    , placement_(info.placement)
    , sizeBytes_(info.sizeBytes)
    , softBacking_(*backing)
    , backing_(std::move(backing)) {}

} // namespace causeway::kmd::soft
