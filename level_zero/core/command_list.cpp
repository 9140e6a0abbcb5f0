#include "level_zero/core/command_list.h"

#include <iterator>

namespace causeway::core {
namespace {

/// Where there is no memory, `commands` stay with the caller.
copy::BatchRef batchOf(std::vector<copy::Command> &&commands) {
    return std::make_shared<const copy::CommandBatch>(std::move(commands));
}

} // namespace

Result<void> CommandList::append(std::vector<copy::Command> commands) {
    if (queue_ != nullptr) {
        return queue_->submit({batchOf(std::move(commands))});
    }
    const MutexLock lock(mutex_);
    if (batch_ != nullptr) {
        return fail(Status::InvalidArgument, "the command list is closed; reset opens it");
    }
    commands_.insert(commands_.end(),
                     std::make_move_iterator(commands.begin()),
                     std::make_move_iterator(commands.end()));
    return {};
}

Result<void> CommandList::appendBatches(std::vector<copy::Command> before,
                                        std::vector<copy::BatchRef> batches,
                                        std::vector<copy::Command> after) {
    batches.insert(batches.begin(), batchOf(std::move(before)));
    batches.push_back(batchOf(std::move(after)));
    return queue_->submit(std::move(batches));
}

void CommandList::close() {
    if (queue_ != nullptr) {
        return;
    }
    const MutexLock lock(mutex_);
    if (batch_ == nullptr) {
        batch_ = batchOf(std::move(commands_));
        commands_.clear();
    }
}

void CommandList::reset() {
    std::vector<copy::Command> commands; // let go without the lock
    copy::BatchRef batch;
    const MutexLock lock(mutex_);
    commands_.swap(commands);
    batch_.swap(batch);
}

Result<copy::BatchRef> CommandList::recorded() const {
    if (queue_ != nullptr) {
        return fail(Status::InvalidCommandListType, "an immediate command list runs by itself");
    }
    const MutexLock lock(mutex_);
    if (batch_ == nullptr) {
        return fail(Status::InvalidArgument, "the command list is not closed");
    }
    return batch_;
}

} // namespace causeway::core
