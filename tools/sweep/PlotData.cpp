// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/PlotData.h"
#include "analysis/Figures.h"
#include "tools/sweep/Database.h"
#include "tools/sweep/Report.h"
#include "tools/sweep/Schema.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::sweep {

/// Points beside the front that a browser draws while a finger moves.
static constexpr int64_t MaxPoints = 20000;

/// A browser counts to 2^53: what is larger is a text there.
static json::Value exact(int64_t Number) {
  constexpr int64_t Largest = int64_t(1) << 53;
  if (-Largest <= Number && Number <= Largest)
    return Number;
  return std::to_string(Number);
}

/// A figure may be missing, or have a fraction.
static json::Value exactAt(const SqlStatement &Row, int Column) {
  if (Row.isNull(Column))
    return nullptr;
  if (const std::optional<double> Real = Row.realAt(Column))
    return *Real;
  return exact(Row.numberAt(Column));
}

const std::string *PlotData::AxisColumn::firstWord() const {
  const auto It = find_if(Values, [](StringRef Value) {
    int64_t Number;
    return Value.getAsInteger(10, Number);
  });
  return It == Values.end() ? nullptr : &*It;
}

bool PlotData::Front::has(int64_t X, int64_t Y) const {
  const auto It = Corners.find(X);
  return It != Corners.end() && It->second.Y == Y;
}

int64_t PlotData::Front::interval() const {
  const int64_t Others = Accepted - static_cast<int64_t>(Corners.size());
  return std::max<int64_t>(1, (Others + MaxPoints - 1) / MaxPoints);
}

Expected<std::unique_ptr<PlotData>> PlotData::open(StringRef Path,
                                                   PlotColumns Of) {
  Expected<Connection> C = openToRead(Path);
  if (!C)
    return C.takeError();
  std::unique_ptr<PlotData> D(new PlotData(std::move(*C), std::move(Of)));
  Expected<StringRef> View = viewWith(D->C, "--plot", {D->Of.X, D->Of.Y});
  if (!View)
    return View.takeError();
  D->View = *View;
  if (Error E = D->readColumns())
    return E;
  if (Error E = D->readAxisValues())
    return E;
  for (const StringRef Name : {D->Of.X, D->Of.Y})
    if (Error E = D->checkColumn(Name))
      return E;
  return D;
}

/// The view has the number of a point, then axes, metrics, and figures.
Error PlotData::readColumns() {
  Expected<SqlStatement> Points = C.prepare("SELECT * FROM points"),
                         Measured = C.prepare("SELECT * FROM metrics"),
                         Shown = C.prepare("SELECT * FROM " + View);
  if (!Points || !Measured || !Shown)
    return joinErrors(joinErrors(Points.takeError(), Measured.takeError()),
                      Shown.takeError());
  Expected<int64_t> Commands =
      C.number("SELECT count(*) FROM sweep WHERE name = 'command'");
  if (!Commands)
    return Commands.takeError();
  if (*Commands == 0)
    return C.failure("does not say which command compiles a point; it is of "
                     "an older version");
  const int First = Points->columns() - Measured->columns() + 1;
  for (int Column = 1; Column < First; ++Column)
    Axes.push_back({Points->name(Column).str()});
  for (int Column = First; Column < Shown->columns(); ++Column)
    Metrics.push_back(Shown->name(Column).str());
  return Error::success();
}

Error PlotData::readAxisValues() {
  return C.forEachRow(
      "SELECT axis, value FROM axis_values ORDER BY axis, position",
      [&](const SqlStatement &Row) -> Error {
        const auto Index = static_cast<size_t>(Row.numberAt(0));
        if (Index >= Axes.size())
          return C.failure("has values of axes that there are not");
        AxisColumn &A = Axes[Index];
        A.Positions.try_emplace(Row.textAt(1), A.Values.size());
        A.Values.push_back(Row.textAt(1).str());
        A.IsShown.push_back(false);
        return Error::success();
      });
}

/// Checks that a column has a number at every point; a metric may be missing,
/// but not at all of them.
Error PlotData::checkColumn(StringRef Name) {
  Expected<int64_t> Lacking =
      C.number("SELECT count(*) > 0 AND count(" + quoted(Name, '"') +
               ") = 0 FROM " + View.str());
  if (!Lacking)
    return Lacking.takeError();
  if (*Lacking != 0)
    return missingColumn(Name);
  const auto Axis = find_if(Axes, [&](const AxisColumn &A) {
    return A.Name == Name && A.firstWord();
  });
  if (Axis == Axes.end())
    return Error::success();
  std::vector<StringRef> Numeric;
  for (const AxisColumn &A : Axes)
    if (!A.firstWord())
      Numeric.push_back(A.Name);
  append_range(Numeric, Metrics);
  return createStringError(
      "--plot: `" + Name + "` is no number at every point, it has the value `" +
      *Axis->firstWord() + "`; numbers are " + join(Numeric, ", "));
}

std::string PlotData::selectPlaces() const {
  return "SELECT id, " + quoted(Of.X, '"') + ", " + quoted(Of.Y, '"') +
         " FROM " + View.str() + " WHERE typeof(" + quoted(Of.X, '"') +
         ") = 'integer' AND typeof(" + quoted(Of.Y, '"') + ") = 'integer'";
}

/// From left to right a point is on the front if it is lower than all before.
Expected<PlotData::Front> PlotData::findFront() {
  Front F;
  Error E = C.forEachRow(
      selectPlaces() + " ORDER BY 2, 3, 1", [&](const SqlStatement &Row) {
        const int64_t X = Row.numberAt(1), Y = Row.numberAt(2);
        if (F.Corners.empty() || Y < F.Corners.rbegin()->second.Y)
          F.Corners[X] = {Y, Row.numberAt(0)};
        ++F.Accepted;
      });
  if (E)
    return E;
  return F;
}

Error PlotData::write(raw_ostream &OS) {
  // A sweep that still writes changes nothing between the queries.
  if (Error E = C.run("BEGIN"))
    return E;
  auto End = make_scope_exit([&] { consumeError(C.run("COMMIT")); });
  Expected<Front> F = findFront();
  if (!F)
    return F.takeError();
  Expected<int64_t> Accepted =
      C.number("SELECT ifnull(sum(accepted), 0) FROM units");
  if (!Accepted)
    return Accepted.takeError();
  Expected<int64_t> Unfit = C.number("SELECT ifnull(sum(unfit), 0) FROM units");
  if (!Unfit)
    return Unfit.takeError();
  Error Failed = Error::success();
  json::OStream J(OS);
  auto Write = [&](StringRef Name, auto Rows) {
    J.attributeArray(Name,
                     [&] { Failed = joinErrors(std::move(Failed), Rows()); });
  };
  J.object([&] {
    J.attributeObject("sweep", [&] {
      Failed = joinErrors(std::move(Failed), writeSweep(J));
    });
    J.attribute("x", Of.X);
    J.attribute("y", Of.Y);
    J.attribute("accepted", exact(*Accepted));
    if (F->Accepted != *Accepted)
      J.attribute("shown", exact(F->Accepted));
    J.attribute("unfit", exact(*Unfit));
    J.attribute("interval", exact(F->interval()));
    J.attributeArray("metrics", [&] { writeMetrics(J); });
    Write("points", [&] { return writePoints(*F, J); });
    // The values of axes are known only now.
    J.attributeArray("axes", [&] { writeAxes(J); });
    Write("rejections", [&] { return writeRejections(J); });
  });
  return Failed;
}

/// Writes the memory that tensors can use of a device unless it varies by
/// point, which a param can cause: then `fits` can't be computed from one
/// value.
Error PlotData::writeUsableMemory(json::OStream &J) {
  return C.forEachRow(
      "SELECT value FROM sweep WHERE name = 'usable_memory' AND value != '' "
      "AND NOT EXISTS (SELECT 1 FROM metrics WHERE fits IS NOT (peak <= CAST("
      "value AS INTEGER)))",
      [&](const SqlStatement &Row) {
        int64_t Bytes;
        if (to_integer(Row.textAt(0), Bytes))
          J.attribute("usable_memory", exact(Bytes));
      });
}

Error PlotData::writeSweep(json::OStream &J) {
  if (Error E = writeUsableMemory(J))
    return E;
  return C.forEachRow(
      "SELECT name, value FROM sweep WHERE name IN ('command', 'job', "
      "'points') ORDER BY name",
      [&](const SqlStatement &Row) {
        J.attribute(json::fixUTF8(Row.textAt(0)), json::fixUTF8(Row.textAt(1)));
      });
}

void PlotData::writeMetrics(json::OStream &J) const {
  for (const std::string &Name : Metrics) {
    const auto Known = find_if(
        allFigures(), [&](const FigureInfo &M) { return M.Name == Name; });
    J.object([&] {
      J.attribute("name", Name);
      // Scripts of simulators print times as `ns`.
      J.attribute("unit", Known != allFigures().end() ? getName(Known->Unit)
                          : Name == "ns"              ? "ns"
                                                      : "count");
      J.attribute("doc", Known == allFigures().end() ? "" : Known->Doc);
    });
  }
}

Error PlotData::writePoints(const Front &F, json::OStream &J) {
  Expected<SqlStatement> Whole =
      C.prepare("SELECT * FROM " + View + " WHERE id = ?");
  if (!Whole)
    return Whole.takeError();
  int64_t Others = 0;
  return C.forEachRow(
      selectPlaces() + " ORDER BY 1", [&](const SqlStatement &Place) -> Error {
        const int64_t Id = Place.numberAt(0), X = Place.numberAt(1);
        const bool IsOnFront = F.has(X, Place.numberAt(2));
        const bool IsCorner = IsOnFront && F.Corners.at(X).Id == Id;
        if (!IsCorner && Others++ % F.interval() != 0)
          return Error::success();
        Whole->bind(1, Id);
        Expected<bool> HasRow = C.next(*Whole);
        if (!HasRow)
          return HasRow.takeError();
        Error E = writePoint(*Whole, IsOnFront, J);
        Whole->reset();
        return E;
      });
}

Error PlotData::writePoint(const SqlStatement &Row, bool IsOnFront,
                           json::OStream &J) {
  std::vector<int64_t> Positions;
  for (const auto &[Index, A] : enumerate(Axes)) {
    const auto At = A.Positions.find(Row.textAt(static_cast<int>(Index) + 1));
    if (At == A.Positions.end())
      return C.failure("has a point without a value of `" + A.Name + "`");
    Positions.push_back(static_cast<int64_t>(At->second));
    A.IsShown[At->second] = true;
  }
  J.rawValue([&](raw_ostream &OS) {
    OS << '\n';
    json::OStream Line(OS);
    Line.object([&] {
      Line.attribute("id", exact(Row.numberAt(0)));
      if (IsOnFront)
        Line.attribute("front", true);
      Line.attributeArray("axes", [&] {
        for (const int64_t Position : Positions)
          Line.value(Position);
      });
      Line.attributeArray("metrics", [&] {
        const int First = static_cast<int>(Axes.size()) + 1;
        for (int Column = First; Column < Row.columns(); ++Column)
          Line.value(exactAt(Row, Column));
      });
    });
  });
  return Error::success();
}

void PlotData::writeAxes(json::OStream &J) const {
  for (const AxisColumn &A : Axes)
    J.object([&] {
      J.attribute("name", A.Name);
      J.attribute("count", static_cast<int64_t>(A.Values.size()));
      J.attribute("numeric", A.firstWord() == nullptr);
      J.attributeArray("values", [&] {
        for (size_t Position = 0; Position < A.Values.size(); ++Position)
          if (A.IsShown[Position])
            J.object([&] {
              const std::string &Value = A.Values[Position];
              J.attribute("position", static_cast<int64_t>(Position));
              J.attribute("value", json::fixUTF8(Value));
              J.attribute("option",
                          json::fixUTF8(optionOf(A.Name + "=" + Value)));
            });
      });
    });
}

Error PlotData::writeRejections(json::OStream &J) {
  return C.forEachRow("SELECT slug, key, count, example FROM rejections "
                      "ORDER BY count DESC, slug, key",
                      [&](const SqlStatement &Row) {
                        J.object([&] {
                          J.attribute("slug", json::fixUTF8(Row.textAt(0)));
                          J.attribute("key", json::fixUTF8(Row.textAt(1)));
                          J.attribute("count", exact(Row.numberAt(2)));
                          J.attribute("example", exact(Row.numberAt(3)));
                        });
                      });
}

} // namespace foretrace::sweep
