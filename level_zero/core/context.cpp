#include "level_zero/core/context.h"

#include <algorithm>
#include <utility>

namespace causeway::core {
namespace {

/// Commands may outlive the handle of the context whose memory they use.
class UseOfContext final : public copy::MemoryUse {
  public:
    UseOfContext(std::shared_ptr<Context> context, memory::AddressUse use)
        : context_(std::move(context)), use_(std::move(use)) {}

    [[nodiscard]] Result<void> check() const override { return use_.check(); }

  private:
    const std::shared_ptr<Context> context_;
    const memory::AddressUse use_;
};

} // namespace

Result<std::shared_ptr<Context>> Context::create(HandleMemory &handles,
                                                 Services services,
                                                 std::vector<const Device *> devices) {
    auto memory = memory::MemoryManager::create(services.backend, services.osPageBytes);
    if (!memory) {
        return forward(memory);
    }
    (*memory)->onShortage([&ipc = services.ipc] { ipc.dropFinished(); });
    return std::shared_ptr<Context>(
        new Context(handles, services, std::move(devices), std::move(*memory)));
}

Context::Context(HandleMemory &handles,
                 Services services,
                 std::vector<const Device *> devices,
                 std::unique_ptr<memory::MemoryManager> memory)
    : services_(services)
    , devices_(std::move(devices))
    , physical_(handles)
    , memory_(std::move(memory)) {}

// The last call that used the context is over here, so nobody can export anew from a manager that
// is about to go.
Context::~Context() {
    services_.ipc.dropOwner(*memory_);
}

Result<copy::MemoryUseRef> Context::use(uint64_t address, uint64_t sizeBytes, Access needed) {
    auto use = memory_->use(address, sizeBytes, needed);
    if (!use) {
        return forward(use);
    }
    if (!use->isOurs()) {
        return copy::MemoryUseRef();
    }
    return std::make_shared<const UseOfContext>(shared_from_this(), std::move(*use));
}

Result<void> Context::require(uint64_t address, uint64_t sizeBytes, Access needed) {
    auto use = memory_->use(address, sizeBytes, needed);
    if (!use) {
        return forward(use);
    }
    if (!use->isOurs()) {
        return fail(Status::InvalidArgument,
                    "{} bytes at {:#x} are not memory of the context",
                    sizeBytes,
                    address);
    }
    return {};
}

bool Context::sees(const Device &device) const {
    return std::find(devices_.begin(), devices_.end(), &device) != devices_.end();
}

Handle *Context::addPhysical(memory::PhysicalMemoryRef object) {
    return physical_.add(std::make_shared<PhysicalObject>(std::move(object), memory::nextId()));
}

Result<Handle *> Context::createPhysical(const Device &device,
                                         Placement placement,
                                         uint64_t sizeBytes,
                                         kmd::FileNeed file) {
    auto object = memory_->createPhysical(device.kmd(), placement, sizeBytes, file);
    if (!object) {
        return forward(object);
    }
    return addPhysical(std::move(*object));
}

Result<Handle *> Context::importPhysical(const Device &device,
                                         Placement placement,
                                         uint64_t sizeBytes,
                                         int fd) {
    auto file = duplicateForeign(services_.os, fd);
    if (!file) {
        return forward(file);
    }
    auto object = memory_->importPhysical(device.kmd(), placement, sizeBytes, std::move(*file));
    if (!object) {
        return forward(object, fmt::format("descriptor {}", fd));
    }
    return addPhysical(std::move(*object));
}

Result<uint64_t> Context::importAllocation(const memory::AllocationRequest &request, int fd) {
    auto file = duplicateForeign(services_.os, fd);
    if (!file) {
        return forward(file);
    }
    auto address = memory_->importAllocation(request, std::move(*file));
    if (!address) {
        return forward(address, fmt::format("descriptor {}", fd));
    }
    return address;
}

Result<std::shared_ptr<PhysicalObject>> Context::findPhysical(const void *handle) const {
    if (handle == nullptr) {
        return fail(Status::InvalidNullHandle, "the physical memory handle is null");
    }
    auto found = physical_.find(handle);
    if (!found) {
        return fail(Status::InvalidArgument,
                    "{} is not a live physical memory handle of this context",
                    handle);
    }
    return found;
}

Result<void> Context::destroyPhysical(const void *handle) {
    auto found = findPhysical(handle);
    if (!found) {
        return forward(found);
    }
    // Of two threads that destroy one handle, the second finds it gone.
    if (!physical_.remove(handle)) {
        return fail(Status::InvalidArgument, "{} was destroyed by another thread", handle);
    }
    return {};
}

Result<wire::HandleBytes> Context::exportRange(uint64_t address, uint64_t sizeBytes) {
    // Version 1 of the handle defines no flags.
    return services_.ipc.exportRange(*memory_, address, sizeBytes, 0);
}

Result<wire::HandleBytes> Context::exportObject(uint64_t address) {
    return services_.ipc.exportObject(*memory_, address);
}

Result<wire::HandleBytes> Context::exportPhysical(const memory::PhysicalMemoryRef &object) {
    return services_.ipc.exportPhysical(*memory_, object);
}

Result<UniqueFd> Context::newDescriptor(const memory::PhysicalMemoryRef &object) {
    return services_.ipc.newDescriptor(*memory_, object);
}

Result<int> Context::descriptorAt(uint64_t address) {
    return services_.ipc.descriptorAt(*memory_, address);
}

Result<int> Context::descriptorOf(const wire::HandleBytes &handle) {
    return services_.ipc.descriptorOf(*memory_, handle);
}

Result<wire::HandleBytes> Context::exportDescriptor(int fd) {
    return services_.ipc.exportDescriptor(*memory_, fd);
}

Result<void> Context::freeMemory(uint64_t address) {
    const uint64_t id = memory_->pointerInfo(address).id;
    auto freed = memory_->free(address);
    if (freed) {
        services_.ipc.revokeObject(*memory_, address, id);
    }
    return freed;
}

Result<uint64_t> Context::openHandle(const Device &device, const wire::HandleBytes &handle) {
    return services_.ipc.open(*memory_, device.kmd(), handle);
}

void Context::putHandle(const wire::HandleBytes &handle) {
    services_.ipc.put(*memory_, handle);
}

} // namespace causeway::core
