// SPDX-License-Identifier: Apache-2.0
#include "passes/PassManager.h"
