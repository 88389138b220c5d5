if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal comments=:///,://!,:// commentstring=//\ %s
setlocal expandtab shiftwidth=2 softtabstop=2 formatoptions-=t formatoptions+=croql
setlocal suffixesadd=.guard includeexpr=substitute(v:fname,'\\.','/','g')
setlocal formatexpr=guard#Format()
let b:undo_ftplugin = 'setlocal comments< commentstring< expandtab< shiftwidth< softtabstop< formatoptions< suffixesadd< includeexpr< formatexpr<'

compiler guard
