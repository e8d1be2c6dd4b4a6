// SPDX-License-Identifier: Apache-2.0
//
// What a page has beside the plan: pictures are drawn from these. Private to
// the backend.
#ifndef FORETRACE_BACKENDS_REPORT_PARTS_H
#define FORETRACE_BACKENDS_REPORT_PARTS_H

#include "backends/report/Explanations.h"

namespace foretrace::report {

/// The attribute `picture`: steps of the schedule with their times. Of a job
/// with many of them a part stands for all, and says so.
void writePicture(const EmitRequest &Request, llvm::json::OStream &J);

/// The attribute `nodes`: some nodes with their ranks, and in which groups
/// these are.
void writeNodes(const ir::Program &P, llvm::json::OStream &J);

/// The attribute `sections`: what other backends say of the job in figures.
class Sections {
public:
  /// \p Request is checked, and stays.
  explicit Sections(const EmitRequest &Request);
  ~Sections();

  /// What they need to know.
  static ir::FactSet needs();
  void write(Explanations &Of, llvm::json::OStream &J) const;

private:
  struct Section;
  std::vector<Section> All;
};

} // namespace foretrace::report

#endif
