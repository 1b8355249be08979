// sampan hosts: whether two hosts can copy to each other, and how fast.
#include <cstdlib>

#include "tools/sampan/hosts/host_check.h"
#include "tools/sampan/shared/command_line/command.h"
#include "tools/sampan/shared/command_line/failure.h"
#include "tools/sampan/shared/command_line/runtime_options.h"
#include "tools/sampan/shared/output/quantities.h"
#include "tools/sampan/shared/output/terminal.h"
#include "tools/sampan/shared/process/fabric_facts.h"
#include "tools/sampan/shared/process/interrupt.h"
#include "tools/sampan/shared/process/runtime_facts.h"

namespace sampan::tool {
namespace {

constexpr int kMaxSeconds = 86400;

int Execute(const Arguments& arguments) {
  const double seconds = ParseSeconds("hosts", arguments.ValueOr("--seconds", "300"), kMaxSeconds);
  const bool imports = arguments.operands.size() > 1;
  const Invitation invitation = imports ? Invitation::Decode(arguments.operands[1]) : Invitation{};
  WatchForInterrupt();
  const FabricFacts fabric = ReadFabricFacts();
  if (!fabric.usable()) throw Failure(kCheckFailed, fabric.reason);
  ::setenv("SAMPAN_PROFILE", "ascend910c", 0);  // the chip with FABRIC handles, if no other one is chosen
  RuntimeFacts facts;
  const auto session = StartRuntime(arguments, facts);
  if (imports) {
    Print(MeasureHost(*session, invitation).Text());
    return kSuccess;
  }
  const HostExport exported;
  Print("This host (" + fabric.Text() + ") waits. Run there, within " + ShowSeconds(seconds) +
        ":\n\n  sampan hosts check " + exported.invitation().Encode() + "\n\n");
  if (!exported.WaitForImporter(seconds)) {
    throw Failure(kCheckFailed, "no other process has imported the memory in " + ShowSeconds(seconds) +
                                    "; its message on the other host says why");
  }
  Print("The other process has copied to and from this one\n");
  return kSuccess;
}

}  // namespace

const Command& HostsCommand() {
  static const Command command{
      .description =
          {.name = "hosts",
           .summary = "test whether two hosts can copy to each other, and how fast",
           .paragraphs =
               {"Run 'sampan hosts check' on one host. It exports 64 MiB of device memory and prints the "
                "command for the other host. That one imports the memory, copies to and from it, and "
                "compares every byte. It prints the time of 4 KiB and the rate of 64 MiB in both "
                "directions. If it cannot, its message says why.",
                "The printed text is a handle: while the command waits, its holders can read and write these "
                "64 MiB. The profile is ascend910c, if no other one is set. HCCL_IF_IP and "
                "HCCL_SOCKET_IFNAME choose the interface."},
           .operands =
               {{.name = "ACTION", .meaning = "what to do: check", .choices = {"check"}, .is_required = true},
                {.name = "ADDRESS", .meaning = "what the command printed on the other host"}},
           .options = WithRuntimeOptions(
               {{.name = "--seconds", .value = "N", .meaning = "wait so long for the other host (300)"}}),
           .examples = {{"sampan hosts check", "on the first host; prints the command for the second"},
                        {"HCCL_SOCKET_IFNAME=eth1 sampan hosts check", "by another interface"}},
           .exits = {{"0", "the hosts copy to each other, and every byte was right"},
                     {"1", "they do not: the message says why; or no other process came in time"},
                     {"2", "the arguments could not be understood"},
                     {"3", "could not be written"}}},
      .execute = Execute};
  return command;
}

}  // namespace sampan::tool
