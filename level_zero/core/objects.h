#pragma once

#include "level_zero/core/command_list.h"
#include "level_zero/core/command_queue.h"
#include "level_zero/core/event.h"
#include "level_zero/core/event_pool.h"
#include "level_zero/core/fence.h"
#include "level_zero/core/handle_registry.h"

#include <memory>
#include <vector>

namespace causeway::core {

/// The live objects of a driver that are known by their handle alone. Each keeps its context alive;
/// when the application destroys the context they go with it. Threads: any.
struct Objects {
    explicit Objects(HandleMemory &memory)
        : pools(memory), events(memory), queues(memory), fences(memory), lists(memory) {}

    HandleRegistry<EventPool> pools;
    HandleRegistry<Event> events;
    HandleRegistry<CommandQueue> queues;
    HandleRegistry<Fence> fences;
    HandleRegistry<CommandList> lists;

    /// Queues of `context`, those of immediate lists too.
    [[nodiscard]] std::vector<std::shared_ptr<CommandQueue>> queuesOf(const Context &context) const;
    [[nodiscard]] std::vector<std::shared_ptr<CommandQueue>> queuesOf(const Device &device) const;

    /// Ends every handle of an object that was made in `context`. Queues that still work end first,
    /// all at once.
    void dropOf(const Context &context) noexcept;
};

} // namespace causeway::core
