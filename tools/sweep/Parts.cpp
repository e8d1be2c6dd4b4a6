// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Parts.h"
#include "tools/sweep/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ThreadPool.h"
#include <atomic>
#include <mutex>

using namespace llvm;

namespace foretrace::sweep {

std::string Parts::fileOf(const Twine &Shard, unsigned Count,
                          StringRef Suffix) {
  return (Shard + "-of-" + Twine(Count) + Suffix).str();
}

Parts::Parts(ArrayRef<std::string> Command, StringRef Output, unsigned Count)
    : Output(Output), Folder((Output + ".shards").str()) {
  Merge = {"merge", {Command.front(), "merge"}};
  for (unsigned I = 1; I <= Count; ++I) {
    const std::string Text = Shard{I, Count}.text();
    SmallString<128> Database(Folder);
    sys::path::append(Database, fileOf(Twine(I), Count, ".db"));
    Part &P = Shards.emplace_back(Part{"shard " + Text, Command});
    append_values(P.Command, "--shard=" + Text, "-o", Database.str().str());
    Merge.Command.push_back(Database.str().str());
  }
  append_values(Merge.Command, "-o", Output.str());
}

Expected<bool> isDone(const Sweep &S, StringRef Output) {
  if (!sys::fs::exists(Output))
    return false;
  Expected<Database> DB = Database::open(Output, S);
  if (!DB)
    return DB.takeError();
  Expected<std::vector<int64_t>> Units = DB->done(S);
  if (!Units)
    return Units.takeError();
  if (static_cast<int64_t>(Units->size()) != Engine(S).units())
    return createStringError("`" + Output +
                             "`: was begun as a whole; go on without --shards, "
                             "say another file with -o, or remove it");
  return true;
}

Error makeFolder(const Parts &P) {
  std::error_code Code = sys::fs::create_directory(P.Folder);
  if (!Code && !sys::fs::is_directory(P.Folder))
    Code = make_error_code(errc::not_a_directory);
  return Code ? createStringError("`" + P.Folder +
                                  "`: cannot be made: " + Code.message())
              : Error::success();
}

static Error run(const Part &P) {
  Expected<Outcome> Of = capture(P.Command);
  if (!Of)
    return Of.takeError();
  return Of->Code == 0 ? Error::success()
                       : createStringError(P.Name + ": " + Of->reason());
}

Error runHere(const Parts &P, unsigned AtOnce) {
  if (Error E = makeFolder(P))
    return E;
  std::mutex Guard;
  Error Failed = Error::success();
  std::atomic<bool> HasFailed = false;
  DefaultThreadPool Pool(hardware_concurrency(AtOnce));
  for (const Part &Shard : P.Shards)
    Pool.async([&] {
      if (HasFailed) // the next ones would likely fail alike
        return;
      if (Error E = run(Shard)) {
        HasFailed = true;
        const std::lock_guard<std::mutex> Lock(Guard);
        Failed = joinErrors(std::move(Failed), std::move(E));
      }
    });
  Pool.wait();
  return Failed ? std::move(Failed) : run(P.Merge);
}

} // namespace foretrace::sweep
