#include "level_zero/core/event_pool.h"

#include "shared/base/address.h"
#include "shared/base/log.h"

#include <cstring>
#include <new>
#include <utility>

namespace causeway::core {
namespace {

/// What the memory of a pool begins with. Peers read it: changing it means a new version.
struct PoolHeader {
    uint64_t magic = 0;
    uint32_t version = 0;
    uint32_t count = 0;
    uint32_t flags = 0;
    uint32_t zeros[11] = {}; // NOLINT(*-avoid-c-arrays): a layout
};

static_assert(sizeof(PoolHeader) == sizeof(copy::EventState));

constexpr uint64_t poolMagic = 0x6c6f6f705f747665; // "evt_pool"
constexpr uint32_t poolVersion = 1;

constexpr uint64_t bytesFor(uint32_t count) {
    return (uint64_t{count} + 1) * sizeof(copy::EventState);
}

} // namespace

Result<std::shared_ptr<EventPool>> EventPool::create(ContextRef owner,
                                                     const EventPoolShape &shape) {
    // Made first, so that the memory has an owner from its beginning on.
    std::shared_ptr<EventPool> pool(new EventPool(std::move(owner), false));
    Context &context = *pool->owner_.context;
    auto address = context.memory().allocate({.kind = memory::AllocationKind::Host,
                                              .device = &context.hostMemoryDevice().kmd(),
                                              .sizeBytes = bytesFor(shape.count),
                                              .alignment = sizeof(copy::EventState)});
    if (!address) {
        return forward(address);
    }
    pool->address_ = *address;
    pool->shape_ = shape;
    {
        const MutexLock lock(pool->mutex_); // for the analysis: nobody else knows the pool
        pool->claimed_.resize(shape.count);
    }
    const PoolHeader header = {
        .magic = poolMagic, .version = poolVersion, .count = shape.count, .flags = shape.flags};
    std::memcpy(toPointer(*address), &header, sizeof(header));
    return pool;
}

Result<std::shared_ptr<EventPool>> EventPool::open(ContextRef owner,
                                                   const wire::HandleBytes &handle) {
    std::shared_ptr<EventPool> pool(new EventPool(std::move(owner), true));
    Context &context = *pool->owner_.context;
    auto address = context.openHandle(context.hostMemoryDevice(), handle);
    if (!address) {
        return forward(address);
    }
    pool->address_ = *address;
    if (auto read = pool->readHeader(); !read) {
        return forward(read);
    }
    return pool;
}

/// The bytes are a peer's, who may change them at any time: they are read once.
Result<void> EventPool::readHeader() {
    memory::MemoryManager &memory = owner_.context->memory();
    const auto range = memory.addressRange(address_);
    const auto use = memory.use(address_, sizeof(PoolHeader), Access::ReadWrite);
    PoolHeader header;
    if (range && use && address_ % alignof(copy::EventState) == 0) {
        std::memcpy(&header, toPointer(address_), sizeof(header));
    }
    if (header.magic != poolMagic || header.version != poolVersion || header.count == 0 ||
        (header.flags & ~eventPoolFlags) != 0 || bytesFor(header.count) > range->sizeBytes ||
        !memory.use(address_, bytesFor(header.count), Access::ReadWrite)) {
        return fail(Status::InvalidArgument, "the handle is not one of an event pool");
    }
    shape_ = {.count = header.count, .flags = header.flags};
    return {};
}

EventPool::~EventPool() {
    if (address_ == 0) {
        return;
    }
    try {
        Context &context = *owner_.context;
        const auto released =
            isImported_ ? context.memory().closeImport(address_) : context.freeMemory(address_);
        if (!released) {
            log(LogLevel::Warn, "an event pool stays: {}", released.error().message);
        }
    } catch (const std::bad_alloc &) {
        log(LogLevel::Warn, "an event pool stays: out of host memory");
    }
}

Result<wire::HandleBytes> EventPool::exportHandle() {
    if ((shape_.flags & ZE_EVENT_POOL_FLAG_IPC) == 0) {
        return fail(Status::InvalidArgument,
                    "the event pool was created without ZE_EVENT_POOL_FLAG_IPC");
    }
    return owner_.context->exportObject(address_);
}

Result<copy::EventState *> EventPool::at(uint32_t index) {
    if (index >= shape_.count) {
        return fail(Status::InvalidArgument, "event {} of a pool of {}", index, shape_.count);
    }
    return &stateAt(index);
}

void EventPool::claim(uint32_t index) noexcept {
    if (isImported_) {
        return;
    }
    const MutexLock lock(mutex_);
    if (claimed_[index]) {
        stateAt(index).reset();
    }
    claimed_[index] = true;
}

copy::EventState &EventPool::stateAt(uint32_t index) const {
    return copy::EventState::at(toPointer(address_ + bytesFor(index)));
}

bool EventPool::hasTimestamps() const {
    constexpr uint32_t either =
        ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP;
    return (shape_.flags & either) != 0;
}

} // namespace causeway::core
