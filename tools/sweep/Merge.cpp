// SPDX-License-Identifier: Apache-2.0
#include "tools/output/Leftover.h"
#include "tools/sweep/Database.h"
#include "tools/sweep/Schema.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace foretrace::sweep {

/// The table `sweep` of a shard.
static Expected<StringMap<std::string>> readShardFacts(StringRef Path) {
  Expected<Connection> C = openToRead(Path);
  if (!C)
    return C.takeError();
  Expected<StringMap<std::string>> Facts = readFacts(*C);
  if (Facts && !Facts->contains("shard"))
    return createStringError("`" + Path + "`: does not say which shard it is");
  return Facts;
}

/// Checks that \p Path is a shard of the sweep of \p First, not yet in \p Seen.
static Error checkShard(StringRef Path, const StringMap<std::string> &Facts,
                        StringRef FirstPath,
                        const StringMap<std::string> &First,
                        StringMap<std::string> &Seen) {
  for (const auto &F : First)
    if (F.first() != "shard" && Facts.lookup(F.first()) != F.second)
      return createStringError("`" + Path + "`: is of another sweep than `" +
                               FirstPath + "`: its " + F.first() + " is `" +
                               Facts.lookup(F.first()) + "`, not `" + F.second +
                               "`");
  auto PartsOf = [](const StringMap<std::string> &Of) {
    return StringRef(Of.find("shard")->second).split('/').second;
  };
  if (PartsOf(Facts) != PartsOf(First))
    return createStringError("`" + Path + "`: is one of " + PartsOf(Facts) +
                             " shards, `" + FirstPath + "` one of " +
                             PartsOf(First));
  const auto [It, IsNew] = Seen.try_emplace(Facts.lookup("shard"), Path.str());
  if (!IsNew)
    return createStringError("`" + Path + "`: is shard " + It->first() +
                             ", as `" + It->second + "` is");
  return Error::success();
}

/// Takes the tables of the first shard, and the rows of all.
static Error fill(Connection &C, ArrayRef<std::string> Shards) {
  std::vector<std::string> First;
  for (const auto &[Index, Path] : enumerate(Shards)) {
    Expected<SqlStatement> Attach = C.prepare("ATTACH ? AS shard");
    if (!Attach)
      return Attach.takeError();
    Attach->bind(1, StringRef(Path));
    if (!Attach->change())
      return C.failure("cannot read `" + Path + "`");
    if (Index == 0) {
      std::string Create;
      if (Error E = C.forEachRow(
              "SELECT sql FROM shard.sqlite_master WHERE sql NOT NULL "
              "ORDER BY rowid",
              [&](const SqlStatement &Table) {
                Create += (Table.textAt(0) + ";\n").str();
              }))
        return E;
      if (Error E = C.run(
              Create + "INSERT INTO sweep SELECT * FROM shard.sweep; UPDATE "
                       "sweep SET value = '1/1' WHERE name = 'shard'; INSERT "
                       "INTO axis_values SELECT * FROM shard.axis_values"))
        return E;
    }
    Expected<std::vector<std::string>> Own = readMetrics(C, "shard");
    if (!Own)
      return Own.takeError();
    if (Index == 0)
      First = *Own;
    if (*Own != First)
      return createStringError("`" + Path + "`: " + otherMetrics(*Own, First));
    // `WHERE true` tells the conflict clause from a join.
    if (Error E = C.run("BEGIN; INSERT INTO metrics SELECT * FROM "
                        "shard.metrics; INSERT INTO units SELECT * FROM "
                        "shard.units; INSERT OR IGNORE INTO files SELECT * "
                        "FROM shard.files; " +
                        insertRejection("SELECT * FROM shard.rejections WHERE "
                                        "true") +
                        "; COMMIT; DETACH shard"))
      return createStringError("from `" + Path +
                               "`: " + toString(std::move(E)));
  }
  return Error::success();
}

/// Keeps only the points that are kept of all shards.
static Error reduce(Connection &C, StringRef Kept) {
  Expected<Choice> By = Choice::read(Kept);
  if (!By)
    return By.takeError();
  Chooser All(std::move(*By));
  Expected<std::vector<int64_t>> Dropped = chooseRows(C, All);
  if (!Dropped)
    return Dropped.takeError();
  Expected<SqlStatement> Drop = C.prepare("DELETE FROM metrics WHERE id = ?");
  if (!Drop)
    return Drop.takeError();
  if (Error E = C.run("BEGIN"))
    return E;
  for (const int64_t Id : *Dropped) {
    Drop->bind(1, Id);
    if (!Drop->change())
      return C.failure("cannot be written");
  }
  return C.run("COMMIT");
}

Error Database::merge(ArrayRef<std::string> Shards, StringRef To) {
  InputFiles Inputs;
  for (const std::string &Path : Shards)
    Inputs.add(Path);
  if (Error E = checkOutput(Inputs, To))
    return E;
  Expected<WriteLock> Lock = WriteLock::take(To);
  if (!Lock)
    return Lock.takeError();
  if (sys::fs::exists(To))
    return createStringError("`" + To + "`: is there already");
  StringMap<std::string> First, Seen;
  for (const auto &[Index, Path] : enumerate(Shards)) {
    Expected<StringMap<std::string>> Facts = readShardFacts(Path);
    if (!Facts)
      return Facts.takeError();
    if (Index == 0)
      First = *Facts;
    if (Error E = checkShard(Path, *Facts, Shards.front(), First, Seen))
      return E;
  }
  // SQLite keeps a journal beside what it writes.
  const LeftoverFile Lockfile(Lock->path());
  const LeftoverFile Beside((To + ".part").str());
  const LeftoverFile Journal((Beside.path() + "-journal").str());
  for (const LeftoverFile *Former : {&Beside, &Journal})
    (void)sys::fs::remove(Former->path());
  {
    Expected<Connection> C =
        Connection::open(Beside.path(), Connection::Mode::Write);
    if (!C)
      return C.takeError();
    if (Error E = fill(*C, Shards))
      return E;
    if (Error E = reduce(*C, First.lookup("keep")))
      return E;
    Expected<int64_t> Units = C->number("SELECT count(*) FROM units");
    if (!Units)
      return Units.takeError();
    if (Twine(*Units).str() != First.lookup("units"))
      return createStringError(
          "`" + To + "`: there are " + Twine(*Units) + " of " +
          First.lookup("units") +
          " units; a shard is missing, or has not come to its end");
    Expected<int64_t> Points = countPoints(*C);
    if (!Points)
      return Points.takeError();
    if (Twine(*Points).str() != First.lookup("points"))
      return createStringError("`" + To + "`: a shard is damaged: of " +
                               First.lookup("points") + " points there are " +
                               Twine(*Points));
  }
  if (std::error_code Code = sys::fs::rename(Beside.path(), To))
    return createStringError("`" + To + "`: " + Code.message());
  return Error::success();
}

} // namespace foretrace::sweep
