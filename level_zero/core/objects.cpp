#include "level_zero/core/objects.h"

namespace causeway::core {
namespace {

template <typename Filter>
std::vector<std::shared_ptr<CommandQueue>> queuesThat(const Objects &objects,
                                                      const Filter &wanted) {
    auto found = objects.queues.findAll(wanted);
    const auto lists = objects.lists.findAll(
        [&](const CommandList &list) { return list.queue() != nullptr && wanted(*list.queue()); });
    for (const auto &list : lists) {
        found.push_back(list->queue());
    }
    return found;
}

} // namespace

std::vector<std::shared_ptr<CommandQueue>> Objects::queuesOf(const Context &context) const {
    return queuesThat(*this,
                      [&](const CommandQueue &queue) { return &queue.context() == &context; });
}

std::vector<std::shared_ptr<CommandQueue>> Objects::queuesOf(const Device &device) const {
    return queuesThat(*this, [&](const CommandQueue &queue) { return &queue.device() == &device; });
}

void Objects::dropOf(const Context &context) noexcept {
    const auto isOfIt = [&](const auto &object) { return &object.context() == &context; };
    queues.forEach([&](CommandQueue &queue) {
        if (isOfIt(queue)) {
            queue.stop();
        }
    });
    lists.forEach([&](const CommandList &list) {
        if (isOfIt(list) && list.queue() != nullptr) {
            list.queue()->stop();
        }
    });
    lists.removeAll(isOfIt);
    queues.removeAll(isOfIt);
    fences.removeAll(isOfIt);
    events.removeAll(isOfIt);
    pools.removeAll(isOfIt);
}

} // namespace causeway::core
