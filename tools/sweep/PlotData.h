// SPDX-License-Identifier: Apache-2.0
//
// Data of the page of a sweep, as JSON. Rows of the database are read one by
// one: only the front and the values of axes are held. Private to the sweep.
#pragma once

#include "tools/sweep/Connection.h"
#include "tools/sweep/Plot.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <vector>

namespace foretrace::sweep {

class PlotData {
public:
  static llvm::Expected<std::unique_ptr<PlotData>> open(llvm::StringRef Path,
                                                        PlotColumns Of);

  llvm::Error write(llvm::raw_ostream &OS);

private:
  /// A key that is swept.
  struct AxisColumn {
    std::string Name;
    std::vector<std::string> Values = {};   ///< by position
    llvm::StringMap<size_t> Positions = {}; ///< of the values
    std::vector<bool> IsShown = {}; ///< by position: a point of the page has it

    /// The first value that is no number; null if all are.
    const std::string *firstWord() const;
  };

  /// Points than which none is better in a column and not worse in the other;
  /// less is better.
  struct Front {
    struct Corner {
      int64_t Y, Id; ///< the first point that is there
    };
    std::map<int64_t, Corner> Corners; ///< by x
    int64_t Accepted = 0;              ///< points, on the front or not

    bool has(int64_t X, int64_t Y) const;
    /// Returns n if the page has one in n of the points that are no corners.
    int64_t interval() const;
  };

  PlotData(Connection C, PlotColumns Of) : C(std::move(C)), Of(std::move(Of)) {}
  llvm::Error readColumns();
  llvm::Error readAxisValues();
  llvm::Error checkColumn(llvm::StringRef Name);
  llvm::Expected<Front> findFront();

  /// SQL for the number of each point, x and y.
  std::string selectPlaces() const;
  llvm::Error writeSweep(llvm::json::OStream &J);
  llvm::Error writeUsableMemory(llvm::json::OStream &J);
  void writeMetrics(llvm::json::OStream &J) const;
  llvm::Error writePoints(const Front &F, llvm::json::OStream &J);
  /// On a line of its own.
  llvm::Error writePoint(const SqlStatement &Row, bool IsOnFront,
                         llvm::json::OStream &J);
  void writeAxes(llvm::json::OStream &J) const;
  llvm::Error writeRejections(llvm::json::OStream &J);

  Connection C;
  PlotColumns Of;
  std::vector<AxisColumn> Axes;
  std::vector<std::string> Metrics; ///< and figures of simulators
  llvm::StringRef View;             ///< whose rows are points
};

} // namespace foretrace::sweep
