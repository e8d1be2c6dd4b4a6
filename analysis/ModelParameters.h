// SPDX-License-Identifier: Apache-2.0
//
// Parameters of a model as published, in total and by part, and those that
// ranks store.
#pragma once

#include "analysis/LayerCounts.h"

namespace foretrace {

/// Parameters, and the active parameters among them, which one token uses.
struct ParameterCount {
  ir::Expr All, Active;

  ParameterCount &operator+=(ParameterCount More) {
    All += More.All;
    Active += More.Active;
    return *this;
  }
};

/// Returns the sum of \p Each over all layers of the model.
ir::Expr sumOfLayers(ir::ExprScope P, ir::ElementExpr ir::BlockTotals::*Each);

/// Returns the parameters of the whole model. They may exceed 2^63; the results
/// below then have no value.
ParameterCount modelParameters(ir::ExprScope P);
/// Returns the active parameters of the whole model; INT64_MAX if they
/// overflow.
int64_t activeParameters(const ir::Program &P);

/// Returns the parameters of tables that are only looked up, so that they are
/// in no product. A table that is also the output head is not one of them.
ir::Expr lookedUpParameters(ir::ExprScope P);

/// Parameters by part of the model, as the text of layers names it, in the
/// order of the model.
struct PartParameters {
  llvm::StringRef Part;
  ParameterCount Of;
};
std::vector<PartParameters> parametersByPart(ir::ExprScope P);

/// Parameters of the layers of each stage that \p S represents. The
/// sum over both directions of a stage may exceed 2^63; the expression then has
/// no value.
struct StageParameters {
  __int128 Published;
  ir::Expr From;
};
StageParameters publishedOf(ir::ExprScope P, const ir::Stage &S);

/// Returns the number of parameters stored by all ranks together.
__int128 storedParameters(const ir::Program &P);

} // namespace foretrace
