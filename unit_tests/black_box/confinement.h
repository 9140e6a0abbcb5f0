#pragma once

#include <string_view>

/// What a container, a sandbox or an old kernel takes away from a process. A child is confined from
/// its start on, before it loads the driver (ChildOptions::confinement).
namespace causeway::black_box {

/// Whether this process may make such a confinement for a child; else the reason why not.
/// Namespaces and other users take root.
[[nodiscard]] const char *whyNotConfine();

/// Whether another user (`user` below) may read the driver, and so be a peer; else the reason why
/// not.
[[nodiscard]] const char *whyNotBeAnotherUser();

/// Confines this process. A comma list, applied in this order whatever the order in the text:
///   network      a network namespace of its own: no abstract socket of others is there
///   pids         a pid namespace of its own, in which this process is process 1
///   user         another user (12345), without capabilities
///   deny:CALL=E  a system call answers an errno (seccomp): pidfd_open, pidfd_getfd, memfd_create,
///                clone (threads and processes); E is EPERM, ENOSYS, EAGAIN, ENFILE
/// Ends the process with a message where it cannot.
void confine(std::string_view list);

} // namespace causeway::black_box
