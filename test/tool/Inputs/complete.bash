# usage: complete.bash SCRIPT WORD... : what the completion SCRIPT offers for the
# last WORD of a command line; its words are as bash splits them, at `=` too.
source "$1"
COMP_WORDS=("${@:2}")
COMP_CWORD=$(($# - 2))
compopt() { :; } # there is no completion that it could change
_foretrace
echo "${COMPREPLY[@]}"
