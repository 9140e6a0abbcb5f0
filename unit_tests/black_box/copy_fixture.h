#pragma once

#include "unit_tests/black_box/command_calls.h"
#include "unit_tests/black_box/ipc_fixture.h"
#include "unit_tests/black_box/usm_kinds.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace causeway::black_box {

using Random = std::mt19937_64;

/// From `least` to `most`.
inline size_t numberIn(Random &random, size_t least, size_t most) {
    return std::uniform_int_distribution<size_t>(least, most)(random);
}

/// Memory of any kind, and what each of its bytes must be. Does not own the memory.
class Block {
  public:
    /// Gives every byte a random value.
    Block(std::string name, void *base, size_t size, Random &random)
        : name_(std::move(name)), base_(static_cast<std::byte *>(base)), model_(size) {
        for (std::byte &byte : model_) {
            byte = static_cast<std::byte>(random());
        }
        std::memcpy(base_, model_.data(), size);
    }

    [[nodiscard]] const std::string &name() const { return name_; }

    [[nodiscard]] size_t size() const { return model_.size(); }

    [[nodiscard]] std::byte *at(size_t offset) const { return base_ + offset; }

    [[nodiscard]] std::vector<std::byte> &model() { return model_; }

    [[nodiscard]] const std::vector<std::byte> &model() const { return model_; }

    void modelCopy(size_t offset, const Block &source, size_t sourceOffset, size_t size) {
        std::memmove(model_.data() + offset, source.model_.data() + sourceOffset, size);
    }

    void modelFill(size_t offset, const std::vector<std::byte> &pattern, size_t size) {
        for (size_t i = 0; i < size; ++i) {
            model_[offset + i] = pattern[i % pattern.size()];
        }
    }

    void expectAsModelled() const {
        if (std::memcmp(base_, model_.data(), size()) == 0) {
            return;
        }
        size_t first = 0;
        while (base_[first] == model_[first]) {
            ++first;
        }
        ADD_FAILURE() << name_ << ": the first of the wrong bytes is at " << first << " of "
                      << size();
    }

  private:
    std::string name_;
    std::byte *base_;
    std::vector<std::byte> model_;
};

/// How commands get to a device.
enum class Way : uint8_t {
    Queue,        ///< a regular list, a queue and a fence
    Asynchronous, ///< an immediate list, and a wait
    Synchronous,  ///< an immediate list whose calls return when their work is done
};

inline std::string wayName(const testing::TestParamInfo<Way> &info) {
    return info.param == Way::Queue          ? "Queue"
           : info.param == Way::Asynchronous ? "Asynchronous"
                                             : "Synchronous";
}

/// Tests append to list(), then run().
class CopyTest : public IpcTest, public testing::WithParamInterface<Way> {
  protected:
    void SetUp() override {
        IpcTest::SetUp();
        if (GetParam() == Way::Queue) {
            queue_ = createQueue(context());
            fence_ = createFence(queue_);
            list_ = createList(context());
        } else {
            list_ = createImmediate(context(),
                                    GetParam() == Way::Synchronous
                                        ? ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS
                                        : ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
        }
    }

    [[nodiscard]] ze_command_list_handle_t list() const { return list_; }

    /// Returns when what was appended is done.
    void run() const {
        if (GetParam() == Way::Queue) {
            closeAndExecute(queue_, list_, fence_);
            require(zeFenceHostSynchronize(fence_, longTimeout()), "zeFenceHostSynchronize");
            require(zeFenceReset(fence_), "zeFenceReset");
            require(zeCommandListReset(list_), "zeCommandListReset");
        } else if (GetParam() == Way::Asynchronous) {
            require(commandListHostSynchronize(list_, longTimeout()),
                    "zeCommandListHostSynchronize");
        }
    }

    [[nodiscard]] std::byte *allocate(Kind kind, size_t size) const {
        return black_box::allocate(context(), kind, size);
    }

    [[nodiscard]] Block allocatedBlock(Kind kind, size_t size) {
        return {nameOf(kind), allocate(kind, size), size, random_};
    }

    /// Appends a copy, and does it to the model.
    void copy(Block &dst, size_t offset, const Block &src, size_t srcOffset, size_t size) const {
        appendCopy(list_, dst.at(offset), src.at(srcOffset), size);
        dst.modelCopy(offset, src, srcOffset, size);
    }

    void fill(Block &dst, size_t offset, const std::vector<std::byte> &pattern, size_t size) const {
        require(fillResult(dst.at(offset), pattern.data(), pattern.size(), size),
                "zeCommandListAppendMemoryFill");
        dst.modelFill(offset, pattern, size);
    }

    ze_result_t fillResult(void *ptr, const void *pattern, size_t patternSize, size_t size) const {
        return zeCommandListAppendMemoryFill(
            list_, ptr, pattern, patternSize, size, nullptr, 0, nullptr);
    }

    [[nodiscard]] std::vector<std::byte> randomPattern(size_t size) {
        std::vector<std::byte> pattern(size);
        for (std::byte &byte : pattern) {
            byte = static_cast<std::byte>(random_());
        }
        return pattern;
    }

    Random random_{20260201}; // NOLINT(cert-msc51-cpp): the same in every run

  private:
    ze_command_list_handle_t list_ = nullptr;
    ze_command_queue_handle_t queue_ = nullptr;
    ze_fence_handle_t fence_ = nullptr;
};

} // namespace causeway::black_box
