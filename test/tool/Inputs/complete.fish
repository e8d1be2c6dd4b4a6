# SPDX-License-Identifier: Apache-2.0
#
# Prints what fish completes for each argument, without descriptions.
source foretrace.fish
for line in $argv
    echo "== $line"
    complete -C $line | string replace -r '\t.*' ''
end
exit 0  # `string` fails if it replaces nothing
