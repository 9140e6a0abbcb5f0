#pragma once

#include "unit_tests/black_box/deadline.h"
#include "unit_tests/black_box/ipc_calls.h"
#include "unit_tests/black_box/patterns.h"
#include "unit_tests/black_box/peer.h"
#include "unit_tests/black_box/process_state.h"
#include "unit_tests/black_box/range.h"
#include "unit_tests/black_box/ze_calls.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

namespace causeway::black_box {

/// A context, and the proof at the end that nothing is left of a test: after the context's end this
/// process has the descriptors and the mappings of memory files that it had before, and no child.
class DriverTest : public testing::Test {
  protected:
    void SetUp() override {
        driver();
        descriptors_ = openDescriptors();
        mappings_ = memoryFileMappings();
        context_ = std::make_unique<Context>();
    }

    void TearDown() override {
        if (!context_) {
            return;
        }
        context_.reset();
        EXPECT_TRUE(hasNoChildren());
        EXPECT_TRUE(eventually([this] { return openDescriptors() == descriptors_; }))
            << difference(descriptors_, openDescriptors());
        EXPECT_EQ(memoryFileMappings(), mappings_);
    }

    [[nodiscard]] ze_context_handle_t context() const { return context_->get(); }

    /// Ends the test's context before the test does.
    void replaceContext() {
        context_.reset();
        context_ = std::make_unique<Context>();
    }

  private:
    std::map<int, std::string> descriptors_;
    size_t mappings_ = 0;
    std::unique_ptr<Context> context_;
};

/// For tests that export. The driver's server starts with a process's first export and stays, a
/// handful of descriptors, so each process shares something once before anything is counted.
class IpcTest : public DriverTest {
  protected:
    void SetUp() override {
        shareOnce();
        DriverTest::SetUp();
    }

  private:
    static void shareOnce() {
        static const bool isDone = [] {
            const Context context;
            const Range range(context.get(), manyPieces(1));
            const auto handle = range.exportWhole();
            const auto withServer = openDescriptors();
            {
                Peer peer;
                peer.close(peer.open(handle));
            }
            putIpcHandle(context.get(), handle);
            return eventually([&] { return openDescriptors().size() <= withServer.size(); });
        }();
        static_cast<void>(isDone);
    }
};

} // namespace causeway::black_box
