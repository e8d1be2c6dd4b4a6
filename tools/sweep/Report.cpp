// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Report.h"
#include "analysis/Figures.h"
#include "backends/figures/Figures.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Tools.h"
#include "tools/sweep/Digest.h"
#include "tools/sweep/Shell.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::sweep {

Summary::Summary(const Sweep &S)
    : Kept(Choice::of(S.Space.spec())), Best(Choice::best(S.Space.spec())),
      HasEffect(S.Space.axes().size()) {}

std::vector<int64_t> Summary::add(const Tally &T, int64_t Of) {
  Points += Of;
  Accepted += T.NumAccepted;
  Unfit += T.NumUnfit;
  for (const auto &[Why, R] : T.Rejected)
    addRejected(Rejected[Why], R.Example, R.Count);
  for (const size_t Axis : T.Effective)
    HasEffect[Axis] = true;
  Best.add(T.Best);
  if (Kept.keepsAll()) {
    First.insert(T.Accepted.begin(), T.Accepted.end());
    if (First.size() > MaxFirst)
      First.erase(std::next(First.begin(), MaxFirst), First.end());
  }
  return Kept.keepsAll() ? std::vector<int64_t>() : Kept.add(T.points(Kept));
}

/// Adds what a database has already.
static Error resume(Database &DB, Summary &To) {
  Expected<int64_t> Accepted = DB.accepted();
  if (!Accepted)
    return Accepted.takeError();
  Expected<int64_t> Unfit = DB.unfit();
  if (!Unfit)
    return Unfit.takeError();
  Expected<std::map<RejectionCause, Rejection>> Rejected = DB.rejections();
  if (!Rejected)
    return Rejected.takeError();
  To.Points = To.Accepted = *Accepted;
  To.Unfit = *Unfit;
  To.Rejected = std::move(*Rejected);
  for (const auto &[Why, R] : To.Rejected)
    To.Points += R.Count;
  To.IsResumed = To.Points != 0;
  if (Expected<std::vector<int64_t>> Dropped = DB.choose(To.Kept); !Dropped)
    return Dropped.takeError();
  if (!To.Best.choice().hasGoal())
    return Error::success();
  Expected<std::vector<Chooser::Point>> Best = DB.best();
  if (!Best)
    return Best.takeError();
  To.Best.add(std::move(*Best));
  return Error::success();
}

Error evaluate(const Sweep &S, ArrayRef<int64_t> Done, unsigned Threads,
               Summary &To, TallyTaker Take) {
  const Engine E(S);
  Error Failed = Error::success();
  E.run(Done, Threads, [&](int64_t Unit, const Tally &T) {
    // A file that could not be read is no verdict.
    if (const std::string Unread = S.Files->failure(); !Unread.empty())
      Failed = joinErrors(std::move(Failed), createStringError(Unread));
    else if (Error Taking = Take(Unit, T, To.add(T, E.pointsOf(Unit))))
      Failed = joinErrors(std::move(Failed), std::move(Taking));
    else
      return true;
    return false;
  });
  return Failed;
}

Expected<Summary> runSweep(const Sweep &S, Database *DB, unsigned Threads,
                           function_ref<void(const Summary &)> Progress) {
  Summary Out(S);
  std::vector<int64_t> Done;
  if (DB) {
    if (Error Failed = resume(*DB, Out))
      return Failed;
    Expected<std::vector<int64_t>> Units = DB->done(S);
    if (!Units)
      return Units.takeError();
    Done = std::move(*Units);
  }
  if (Error Failed = evaluate(S, Done, Threads, Out,
                              [&](int64_t Unit, const Tally &T,
                                  ArrayRef<int64_t> Dropped) -> Error {
                                if (DB)
                                  if (Error Write = DB->write(Unit, T, Dropped))
                                    return Write;
                                Progress(Out);
                                return Error::success();
                              }))
    return Failed;
  if (DB)
    DB->seal();
  return Out;
}

std::string digestOf(Compiler &Session, const Sweep &S) {
  std::string Text;
  for (const auto &[Path, Digest] : filesRead(Session))
    Text += Path + " " + Digest + "\n";
  for (const std::string &Override : S.Options.Overrides)
    Text += Override + "\n";
  for (diag::Id Id : allDiagnostics())
    if (S.Diags.isAllowed(Id))
      Text += getDiagnosticInfo(Id).Slug.str() + "\n";
  return digestOf(Text);
}

/// Returns the percentage of all points.
static double shareOf(int64_t Count, const Summary &S) {
  return S.Points == 0
             ? 0
             : 100 * static_cast<double>(Count) / static_cast<double>(S.Points);
}

namespace {

constexpr auto FitsIndex = static_cast<size_t>(FigureId::Fits);

/// Points of a sweep as rows: the values of axes with several, the metrics of
/// the sweep, and common figures.
class PointTable {
public:
  explicit PointTable(const Sweep &S);

  void add(Compiler &Session, int64_t Point);
  void write(const PointFormat &Format, raw_ostream &OS) const;

private:
  struct Column {
    std::string Name;
    FigureUnit Unit;
    size_t Metric; ///< of PointVerdict::Metrics
  };

  bool isShown(size_t Column) const;

  const Sweep &S;
  bool ReadsFits = false;   ///< so does the sweep
  std::vector<size_t> Axes; ///< with several values
  bool HasMfu = false;
  std::vector<Column> Columns;
  std::vector<std::vector<std::string>> Names;
  std::vector<std::vector<int64_t>> Numbers; ///< parallel to Names
  std::vector<std::string> Peaks;            ///< parallel: MFU is a share of it
};

} // namespace

PointTable::PointTable(const Sweep &S) : S(S) {
  const SweepSpec &Spec = S.Space.spec();
  for (const auto &[Index, A] : enumerate(S.Space.axes()))
    if (A.size() > 1)
      Axes.push_back(Index);
  const std::vector<size_t> Read = Spec.metricsRead();
  constexpr FigureId Always[] = {FigureId::Peak,     FigureId::Messages,
                                 FigureId::Fits,     FigureId::Bubble,
                                 FigureId::KvTokens, FigureId::Sequences};
  for (const auto &[Index, F] : enumerate(allMetrics(Spec)))
    if (Index >= allFigures().size() || is_contained(Read, Index) ||
        is_contained(Always, static_cast<FigureId>(Index)))
      Columns.push_back({F.Name, F.Unit, Index});
  HasMfu = is_contained(Read, static_cast<size_t>(FigureId::Mfu));
  ReadsFits = is_contained(Read, FitsIndex);
}

void PointTable::add(Compiler &Session, int64_t Point) {
  std::vector<std::string> &Name = Names.emplace_back();
  Name.push_back(std::to_string(Point));
  for (const size_t Axis : Axes)
    for (const SweepSpec::Key &K : S.Space.axes()[Axis].Keys)
      Name.push_back(K.Values[S.Space.indexAt(Point, Axis)]);
  const PointVerdict V = judge(Session, S, Point);
  if (HasMfu)
    Peaks.push_back(peakKeyOf(S, V.Job));
  std::vector<int64_t> &Row = Numbers.emplace_back();
  for (const Column &C : Columns)
    Row.push_back(V.Metrics[C.Metric]);
  Session.forget(V.Job);
}

/// The last word of a key, as far as no other axis has it.
static std::string headOf(const Sweep &S, StringRef Key) {
  const auto LastOf = [](StringRef Name) {
    return Name.substr(Name.rfind('.') + 1); // all of a param
  };
  int64_t Count = 0;
  for (const SweepSpec::Axis &A : S.Space.axes())
    Count += count_if(A.Keys, [&](const SweepSpec::Key &K) {
      return LastOf(K.Name) == LastOf(Key);
    });
  return (Count > 1 ? Key : LastOf(Key)).str();
}

/// `fits` marks the points that do not; a table without one needs no mark.
/// Metrics that no point has are of other jobs.
bool PointTable::isShown(size_t Column) const {
  const bool IsMark = Columns[Column].Metric == FitsIndex && !ReadsFits;
  return any_of(Numbers, [&](const std::vector<int64_t> &Row) {
    return IsMark ? Row[Column] == 0 : Row[Column] != ir::NoValue;
  });
}

void PointTable::write(const PointFormat &Format, raw_ostream &OS) const {
  const bool HasFullNames = isForPrograms(Format.As);
  std::vector<RowColumn> Heads = {{"point", true}};
  for (const size_t Axis : Axes)
    for (const SweepSpec::Key &K : S.Space.axes()[Axis].Keys)
      Heads.push_back({HasFullNames ? K.Name : headOf(S, K.Name), K.AreCounts});
  std::vector<std::vector<std::string>> Rows = Names;
  // Without a word a share is one of the peak rate of 16-bit types.
  if (!HasFullNames && any_of(Peaks, [](StringRef Key) {
        return !Key.empty() && Key != "peak_flops";
      })) {
    Heads.push_back({"mfu of", false});
    for (const auto &[Row, Peak] : zip_equal(Rows, Peaks))
      Row.push_back(Peak);
  }
  std::vector<NumberScale> Scales;
  for (const auto &[Index, C] : enumerate(Columns)) {
    std::vector<__int128> Column;
    for (const std::vector<int64_t> &Row : Numbers)
      Column.push_back(Row[Index]);
    Scales.push_back(Format.IsExact ? exactScaleOf(C.Unit)
                                    : scaleOf(C.Unit, Column));
    if (isShown(Index))
      Heads.push_back(
          {HasFullNames ? C.Name : C.Name + Scales.back().Suffix.str(), true});
  }
  for (const auto &[Row, Values] : zip_equal(Rows, Numbers))
    for (const auto &[Index, Value, In] : enumerate(Values, Scales))
      if (isShown(Index))
        Row.push_back(Value == ir::NoValue ? ""
                      : HasFullNames       ? std::to_string(Value)
                                           : scaled(Value, In));
  writeRows(std::move(Heads), Rows, Format.As, OS);
}

/// Returns the points that are kept, in order, at most \p Most.
static std::vector<int64_t> keptPoints(const Summary &Of, size_t Most) {
  std::vector<int64_t> Points(Of.First.begin(), Of.First.end());
  for (const Chooser::Point &P : Of.Kept.kept())
    Points.push_back(P.Id);
  Points.resize(std::min(Points.size(), Most));
  return Points;
}

static void printPoints(Compiler &Session, const Sweep &S,
                        ArrayRef<int64_t> Points, const PointFormat &Format,
                        raw_ostream &OS) {
  PointTable T(S);
  for (const int64_t P : Points)
    T.add(Session, P);
  T.write(Format, OS);
}

Error checkFormat(const Sweep &S, RowFormat As) {
  const SweepSpec &Spec = S.Space.spec();
  if (!isForPrograms(As) || Choice::of(Spec).Keeps != SweepSpec::Kept::All ||
      Choice::best(Spec).hasGoal())
    return Error::success();
  return createStringError("--format: " + RowFormats[static_cast<size_t>(As)] +
                           " has the points of --keep or the best one of "
                           "--minimize; for all of them use -o and --query");
}

/// Points that do not fit, and the option that treats them otherwise.
static void printUnfit(const Summary &Of, raw_ostream &OS) {
  if (Of.Unfit == 0)
    return;
  const Choice &Best = Of.Best.choice();
  const bool HasGoal = Best.hasGoal() || !Of.Kept.keepsAll();
  OS << "accepted points that do not fit into a device: " << Of.Unfit
     << (!HasGoal          ? " (`--where=fits` rejects them)"
         : Best.TakesUnfit ? ""
                           : "; they are not chosen (`--fits=any` chooses "
                             "among all)")
     << '\n';
}

void printSummary(Compiler &Session, const Sweep &S, const Summary &Of,
                  const PointFormat &Format, raw_ostream &OS) {
  if (isForPrograms(Format.As)) {
    std::vector<int64_t> Points = keptPoints(Of, SIZE_MAX);
    if (Of.Kept.keepsAll()) {
      Points.clear();
      for (const Chooser::Point &P : Of.Best.kept())
        Points.push_back(P.Id);
    }
    return printPoints(Session, S, Points, Format, OS);
  }
  OS << formatv("{0} points: {1} accepted ({2:f1} %), {3} rejected\n",
                Of.Points, Of.Accepted, shareOf(Of.Accepted, Of),
                Of.Points - Of.Accepted);
  printUnfit(Of, OS);
  const bool KeepsAll = Of.Kept.keepsAll();
  const auto Kept =
      KeepsAll ? Of.Accepted : static_cast<int64_t>(Of.Kept.kept().size());
  if (!KeepsAll)
    OS << Kept << " kept\n";
  if (Kept != 0 && (!KeepsAll || Format.ShowsAll)) {
    const std::vector<int64_t> Shown = keptPoints(Of, Summary::MaxFirst);
    OS << '\n';
    printPoints(Session, S, Shown, Format, OS);
    if (const auto More = Kept - static_cast<int64_t>(Shown.size()))
      OS << More << " more\n";
  }
  if (Of.Best.kept().empty()) {
    if (Of.Best.choice().hasGoal() && Of.Accepted != 0)
      OS << "\nbest: none, since no accepted point fits\n";
    return;
  }
  OS << "\nbest: "
     << (Of.Best.choice().By.front().IsLargest ? "most " : "least ")
     << Of.Best.choice().By.front().Metric;
  if (const int64_t Equal = Of.Best.kept().front().Equal; Equal > 1)
    OS << (Of.Best.choice().By.size() > 1
               ? formatv("; of {0} equal points, the one with the least time",
                         Equal)
               : formatv("; the first of {0} equal points", Equal));
  OS << '\n';
  printPoints(Session, S, Of.Best.kept().front().Id, Format, OS);
}

void reportEffects(const Sweep &S, const Summary &Of, DiagnosticEngine &Diags) {
  // Only who saw legal jobs, and all of them, knows.
  if (Of.Accepted == 0 || Of.IsResumed || S.Of.Count != 1)
    return;
  const AxisOrder P(S.Space);
  for (const OrderedAxis &Inner : P.Inner)
    if (const SweepSpec::Axis &A = S.Space.axes()[Inner.Axis];
        !Of.HasEffect[Inner.Axis] && A.size() > 1)
      Diags.report(A.Keys.front().Range, diag::AxisWithoutEffect,
                   A.Keys.front().Name);
}

void printReasons(Compiler &Session, const Sweep &S, const Summary &Of,
                  size_t Most, raw_ostream &OS) {
  using Row = std::pair<RejectionCause, Rejection>;
  std::vector<Row> Rows(Of.Rejected.begin(), Of.Rejected.end());
  stable_sort(Rows, [](const Row &A, const Row &B) {
    return A.second.Count > B.second.Count;
  });
  if (!Rows.empty())
    OS << "\nrejected:\n";
  for (const auto &[Why, R] :
       ArrayRef(Rows).take_front(std::min(Most, Rows.size()))) {
    const PointVerdict V = judge(Session, S, R.Example);
    const Diagnostic *First = V.Job.engine().firstError();
    std::string Nearest;
    for (const Diagnostic &Note :
         First ? First->Notes : std::vector<Diagnostic>())
      if (Note.Id == diag::NearestLegal)
        Nearest += "; " + Note.text();
    OS << formatv("{0,5:f1} %  {1,12}  {2}{3}: {4} (point {5}){6}\n",
                  shareOf(R.Count, Of), R.Count,
                  getDiagnosticInfo(Why.Reported).Slug,
                  Why.Key.empty() ? "" : " (" + Why.Key + ")",
                  First ? First->text() : "", R.Example, Nearest);
    Session.forget(V.Job);
  }
  if (Rows.size() > Most)
    OS << Rows.size() - Most << " more reasons; see --why\n";
}

/// Returns whether an error is in the value that -D gives at \p Range, not in
/// the key.
static bool isOfValue(const SourceFiles &Sources, SourceRange Range) {
  if (!Range.isValid() || Sources.name(Range.File) != CommandLineName)
    return false;
  const StringRef Before =
      Sources.text(Range.File).str().take_front(Range.Begin);
  return Before.substr(Before.rfind('\n') + 1).contains('=');
}

bool canBeSwept(const CompiledJob &Job, const SourceFiles &Sources) {
  static constexpr diag::Id OfValues[] = {
      diag::RequirementFailed, diag::OutsideDomain, diag::InexactDivision,
      diag::DivisionByZero, diag::IntegerOverflow};
  return Job.spec() || all_of(Job.diagnostics(), [&](const Diagnostic &D) {
           return D.Level != Severity::Error || is_contained(OfValues, D.Id) ||
                  isOfValue(Sources, D.Range);
         });
}

} // namespace foretrace::sweep
