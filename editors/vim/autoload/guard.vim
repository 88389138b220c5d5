" Words that begin an item in column 0.
let guard#items = 'use const enum record let trace event predicate track unsafe property rule template requirement
  \ abstraction model query enforce system component compose test'

" Formats with `guard fmt -`. The text stays as it is if that fails; the reason is shown.
function! guard#Format() abort
  if mode() =~# '[iR]'
    return 1 " while text is typed, Vim breaks lines itself
  endif
  let l:errors = tempname()
  let l:new = systemlist('guard fmt - 2>' . shellescape(l:errors), getline(1, '$'))
  if v:shell_error
    let l:reason = filereadable(l:errors) ? get(readfile(l:errors), 0, '') : ''
    call delete(l:errors)
    echohl WarningMsg | echomsg 'guard fmt: ' . l:reason | echohl None
    return 0
  endif
  call delete(l:errors)
  if l:new ==# getline(1, '$')
    return 0
  endif
  let l:view = winsaveview()
  if line('$') > len(l:new)
    silent execute (len(l:new) + 1) . ',$delete _'
  endif
  call setline(1, l:new)
  call winrestview(l:view)
  return 0
endfunction

let s:item = '^\%(' . join(split(guard#items), '\|') . '\)\>\s*[^:[:space:]]'

" The position of the innermost bracket that is open before a line; [0, 0] outside of brackets. It is looked for back to the item in
" column 0: back to the start of the file, `gg=G` of `stdlib` and `examples` took 130 s instead of 19 (Vim 9.0).
function! s:Opener(lnum) abort
  let l:skip = 'synIDattr(synID(line("."), col("."), 1), "name") =~# "String\\|Message\\|Escape\\|Brace\\|Regex\\|Comment\\|Doc"'
  call cursor(a:lnum, 1)
  return searchpairpos('[({\[]', '', '[)}\]]', 'bnW', l:skip, search(s:item, 'bnW'))
endfunction

" The columns by which a line is indented: an item in column 0, the contents of brackets by one more than the line that opens
" them. A line that goes on with an expression may have more, and outside of brackets it stays where it is (-1).
function! guard#Indent(lnum) abort
  let l:line = trim(getline(a:lnum))
  let l:before = prevnonblank(a:lnum - 1)
  let [l:opener, l:column] = s:Opener(a:lnum)
  if l:opener == 0
    if l:before < a:lnum - 1 || l:before == 0 || l:line =~# s:item . '\|^@\|^//[/!]'
      return 0
    endif
    let l:goes_on = getline(l:before) =~# s:item && getline(l:before) =~# '\%(=\|->\|\<and\|\<or\|:\|\<then\)\s*$'
    return l:goes_on && indent(a:lnum) == 0 ? shiftwidth() : -1
  endif
  if l:line =~# '^[)}\]]'
    return indent(l:opener)
  endif
  let l:inside = indent(l:opener) + shiftwidth()
  let l:goes_on = l:line =~# '^\%(and\|or\|then\|else\|message\|in\|matches\|contains\|starts_with\|ends_with\)\>\|^[-=<>+*?|&]'
        \ || getline(l:before) =~# '[:=>]\s*$'
        \ || (getline(l:opener)[l:column - 1] ==# '(' && getline(l:before) !~# '[(,]\s*$')
  return l:goes_on ? max([indent(a:lnum), l:inside]) : l:inside
endfunction
