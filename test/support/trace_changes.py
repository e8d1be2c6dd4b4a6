# SPDX-License-Identifier: Apache-2.0
"""Whether lines are still rows of a trace of Megatron-LM. Whether those are the rows
of a job is not asked: `foretrace check` compares them.
"""
import re

from table_changes import change  # of words, which rows have, too

VALUE = r"[^,']*"
TIME = r"(?:None|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
CALL = (rf"(?:{VALUE},)*trace_src_func={VALUE},(?:{VALUE},)*duration={TIME},"
        rf"(?:{VALUE},)*timestamp={TIME}(?:,[^']*)?")
ROW = re.compile(
    rf"rank:-?\d+:[^(]+\((?:.*,)?stage_id=-?\d+,(?:.*,)?batch_id=-?\d+,(?:.*,)?"
    rf"mg_state={VALUE},(?:.*,)?duration={TIME},(?:.*,)?description=.*,"
    rf"group_kind={VALUE},(?:.*,)?input__shape=(?:\[.*?\]|{VALUE}),(?:.*,)?"
    rf"input__dtype={VALUE},(?:.*,)?timestamp={TIME},(?:.*,)?"
    rf"sub_operations=\[(?:'{CALL}'(?:, )?)*\]\)", re.A)


def harmless(before, after):
    (old,), (new,) = before.values(), after.values()
    lines = [line.removesuffix("\r")
             for line in new.decode("latin-1").split("\n")]
    if not all(line == "" or ROW.fullmatch(line) for line in lines):
        return None
    return "the same is read" if old == new else "rows of another run"
