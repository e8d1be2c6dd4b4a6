// SPDX-License-Identifier: Apache-2.0
//
// The extension module `foretrace._native`: jobs and sweeps with texts and
// columns; foretrace/*.py makes objects of these. The interpreter is free while
// a call runs.
#include "tools/output/Leftover.h"
#include "tools/python/HeldSweep.h"
#include <chrono>
#include <future>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace foretrace;
using namespace foretrace::python;

/// (diagnostics, text, misuse, failure)
static py::tuple toPython(const CallOutcome &Of) {
  return py::make_tuple(Of.Diagnostics, Of.Text, Of.Misuse, Of.Failure);
}

static py::tuple compileJob(HeldJob &Job) {
  CallOutcome Out;
  {
    py::gil_scoped_release Release;
    Out = Job.compile();
  }
  return toPython(Out);
}

/// ([(path, bytes)], outcome)
static py::tuple emitToMemory(HeldJob &Job, BlockRequest Asked,
                              uint64_t MaxBytes) {
  MemoryOutputs To(MaxBytes);
  CallOutcome Out;
  {
    py::gil_scoped_release Release;
    Out = Job.emit(Asked, To);
  }
  py::list Files;
  if (Out.isGood())
    for (MemoryOutputs::File &F : To.files())
      Files.append(py::make_tuple(F.Path, py::bytes(F.Text)));
  return py::make_tuple(Files, toPython(Out));
}

/// ([path], outcome)
static py::tuple emitToFolder(HeldJob &Job, const BlockRequest &Asked,
                              uint64_t MaxBytes, const std::string &Folder) {
  std::vector<std::string> Paths;
  CallOutcome Out;
  {
    py::gil_scoped_release Release;
    Out = Job.emit(Asked, Folder, MaxBytes, Paths);
  }
  return py::make_tuple(Paths, toPython(Out));
}

/// (lines of JSON, text, outcome)
static py::tuple explainJob(HeldJob &Job, const explain::Query &Asked) {
  Explanation Found;
  CallOutcome Out;
  {
    py::gil_scoped_release Release;
    Out = Job.explain(Asked, Found);
  }
  return py::make_tuple(Found.JSON, Found.Text, toPython(Out));
}

/// Runs the sweep on another thread, so that this one can ask the interpreter
/// whether it is interrupted.
static py::tuple runSweep(HeldSweep &Sweep) {
  std::atomic<bool> Stop = false;
  auto Running =
      std::async(std::launch::async, [&] { return Sweep.run(Stop); });
  auto IsDone = [&] {
    py::gil_scoped_release Release;
    return Running.wait_for(std::chrono::milliseconds(50)) ==
           std::future_status::ready;
  };
  while (!IsDone())
    if (!Stop && PyErr_CheckSignals() != 0)
      Stop = true;
  if (Stop)
    throw py::error_already_set();
  return toPython(Running.get());
}

/// An array that owns \p Values.
static py::array_t<int64_t> toPython(std::vector<int64_t> &&Values) {
  auto *Own = new std::vector<int64_t>(std::move(Values));
  const py::capsule Owner(
      Own, [](void *P) { delete static_cast<std::vector<int64_t> *>(P); });
  return py::array_t<int64_t>(static_cast<py::ssize_t>(Own->size()),
                              Own->data(), Owner);
}

/// Returns the results of a sweep; its columns are moved out of it.
static py::dict takeFindings(HeldSweep &Sweep) {
  SweepFindings &Found = Sweep.findings();
  py::list Columns, Axes, Rejected;
  for (SweepColumn &C : Found.Columns)
    Columns.append(
        py::make_tuple(C.Name, C.Unit, toPython(std::move(C.Values))));
  const sweep::Space &Space = Sweep.space();
  for (size_t I = 0; I != Space.axes().size(); ++I)
    for (const SweepSpec::Key &K : Space.axes()[I].Keys)
      Axes.append(
          py::make_tuple(K.Name, Space.stride(I), K.Values,
                         K.AreCounts ? py::cast(K.Numbers) : py::none()));
  for (const SweepRejection &R : Found.Rejected)
    Rejected.append(py::make_tuple(R.Slug, R.Key, R.Count, R.Example));
  using namespace py::literals;
  return py::dict(
      "points"_a = Found.NumPoints, "accepted"_a = Found.NumAccepted,
      "ids"_a = toPython(std::move(Found.Ids)), "columns"_a = Columns,
      "axes"_a = Axes, "rejected"_a = Rejected, "best"_a = Found.Best);
}

PYBIND11_MODULE(_native, M) {
  Leftover::leaveSignals();
  M.attr("no_value") = ir::NoValue;
  M.attr("version") = FORETRACE_VERSION;

  py::class_<HeldJob>(M, "Job")
      .def(py::init([](std::string Path, std::optional<std::string> Text,
                       std::vector<std::string> Overrides,
                       std::vector<std::string> ImportPaths, bool IsModel,
                       std::string Pool) {
        return std::make_unique<HeldJob>(
            JobSource{std::move(Path), std::move(Text), std::move(Overrides),
                      std::move(ImportPaths), IsModel, std::move(Pool)});
      }))
      .def("compile", compileJob)
      .def("emit",
           [](HeldJob &Job, std::vector<std::string> Backends,
              std::vector<std::string> Options, bool ReadsJob,
              uint64_t MaxBytes) {
             return emitToMemory(
                 Job, {std::move(Backends), std::move(Options), ReadsJob},
                 MaxBytes);
           })
      .def("write",
           [](HeldJob &Job, std::vector<std::string> Backends,
              std::vector<std::string> Options, uint64_t MaxBytes,
              const std::string &Folder) {
             return emitToFolder(Job, {std::move(Backends), std::move(Options)},
                                 MaxBytes, Folder);
           })
      .def("explain",
           [](HeldJob &Job, std::string Op, std::string Parameter, bool Memory,
              bool Messages, bool Work, std::string Backend,
              std::optional<int64_t> Rank, std::optional<int64_t> Row,
              std::optional<int64_t> Node, std::optional<int64_t> Stage,
              std::optional<std::string> Figure) {
             explain::Query Asked;
             Asked.Op = std::move(Op);
             Asked.Parameter = std::move(Parameter);
             Asked.Memory = Memory;
             Asked.Messages = Messages;
             Asked.Work = Work;
             Asked.Backend = std::move(Backend);
             Asked.Cell = {Rank, Row, Node, Stage, std::move(Figure)};
             return explainJob(Job, Asked);
           });

  py::class_<HeldSweep>(M, "Sweep")
      .def(py::init(
          [](std::string Path, std::optional<std::string> Text,
             std::vector<std::string> Overrides,
             std::vector<std::string> ImportPaths, std::string Pool,
             const std::vector<std::pair<std::string, std::string>> &Entries,
             std::string AxesFile,
             std::optional<std::vector<std::string>> Columns,
             unsigned Threads) {
            SweepSource Asked{{std::move(Path), std::move(Text),
                               std::move(Overrides), std::move(ImportPaths),
                               /*IsModel=*/false, std::move(Pool)},
                              {},
                              std::move(AxesFile),
                              std::move(Columns),
                              Threads};
            for (const auto &[Flag, Value] : Entries)
              Asked.Entries.push_back({Flag, Value});
            return std::make_unique<HeldSweep>(std::move(Asked));
          }))
      .def("run", runSweep)
      .def("take", takeFindings)
      .def("overrides", [](const HeldSweep &Sweep, int64_t Point) {
        return Sweep.space().overridesOf(Point);
      });
}
