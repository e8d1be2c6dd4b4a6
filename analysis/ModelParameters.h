// SPDX-License-Identifier: Apache-2.0
//
// The number of parameters of a model as it is published, in all and by part,
// and of what ranks store.
#ifndef FORETRACE_ANALYSIS_MODELPARAMETERS_H
#define FORETRACE_ANALYSIS_MODELPARAMETERS_H

#include "analysis/LayerCounts.h"

namespace foretrace {

/// Parameters, and those of them that are active: that one token goes through.
struct ParameterCount {
  ir::Expr All, Active;

  ParameterCount &operator+=(ParameterCount More) {
    All += More.All;
    Active += More.Active;
    return *this;
  }
};

/// The sum over all layers of the model of what each has of \p Each.
ir::Expr sumOfLayers(ir::ExprScope P, ir::ElementExpr ir::BlockTotals::*Each);

/// Parameters of the whole model. They may be beyond 2^63; then nothing else
/// below has a value.
ParameterCount modelParameters(ir::ExprScope P);

/// Parameters of tables that are only looked up, so that no product has them: a
/// table that is the output head's, too, is none.
ir::Expr lookedUpParameters(ir::ExprScope P);

/// Parameters by part of the model (analysis/ModelParts.def), in the order of
/// the model.
struct PartParameters {
  llvm::StringRef Part;
  ParameterCount Of;
};
std::vector<PartParameters> parametersByPart(ir::ExprScope P);

/// Parameters of the layers of each stage that \p S stands for; both ways of a
/// stage together may be beyond 2^63, and then the expression has no value.
struct StageParameters {
  __int128 Published;
  ir::Expr From;
};
StageParameters publishedOf(ir::ExprScope P, const ir::Stage &S);

/// What all ranks together store.
__int128 storedParameters(const ir::Program &P);

} // namespace foretrace

#endif
