" SPDX-License-Identifier: Apache-2.0
"
" :make checks the job in the buffer.
if exists('current_compiler')
  finish
endif
let current_compiler = 'foretrace'

CompilerSet makeprg=foretrace\ plan\ --color=never\ -o\ /dev/null\ %:S
CompilerSet errorformat=%f:%l:%c:\ %trror:\ %m,%f:%l:%c:\ %tarning:\ %m,%f:%l:%c:\ %tote:\ %m,%-G%.%#
