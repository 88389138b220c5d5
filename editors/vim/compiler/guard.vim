" `:compiler guard`, then `:make`: findings of `guard check` in the quickfix list.
if exists('current_compiler')
  finish
endif
let current_compiler = 'guard'

CompilerSet makeprg=guard\ check\ %:S
" [G0201] error: unknown name `tol`
"    ╭─[ spec.guard:2:20 ]
CompilerSet errorformat=%E[%.%#]\ error:\ %m,%W[%.%#]\ warning:\ %m,%I[%.%#]\ hint:\ %m,%C%.%#[\ %f:%l:%c\ ],%-Z%.%#╯,%-C%.%#,%-G%.%#
