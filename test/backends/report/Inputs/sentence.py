# SPDX-License-Identifier: Apache-2.0
"""usage: sentence.py PAGE

Prints the first sentence of a report.
"""

import sys

from browser import opened

with opened(sys.argv[1]) as browser:
    print(browser.text("#sentence"))
