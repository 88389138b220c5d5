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

" The columns by which a line is indented: those of the brackets that are open, an item in column 0.
function! guard#Indent(lnum) abort
  let l:line = getline(a:lnum)
  let l:items = '^\%(use\|const\|enum\|record\|let\|trace\|event\|predicate\|track\|unsafe\|property\|rule\|template\|requirement\|abstraction\|model\|query\|enforce\|system\|component\|compose\|test\)\>\s*[^:[:space:]]'
  let l:before = prevnonblank(a:lnum - 1)
  if l:before == 0
    return 0
  endif
  let l:bare = substitute(substitute(getline(l:before), '"\%(\\.\|[^"\\]\)*"', '""', 'g'), '//.*$', '', '')
  let l:indent = indent(l:before)
  " What opens on the line before, less what closes there after an opening one.
  let l:depth = 0
  for l:char in split(l:bare, '\zs')
    if l:char =~# '[({\[]'
      let l:depth += 1
    elseif l:char =~# '[)}\]]' && l:depth > 0
      let l:depth -= 1
    endif
  endfor
  if l:depth > 0
    let l:indent += shiftwidth()
  elseif l:indent == 0 && l:bare =~# l:items && l:bare =~# '\%(=\|->\|\<and\|\<or\|:\|\<then\)\s*$'
    " A definition goes on.
    let l:indent += shiftwidth()
  endif
  return l:line =~# '^\s*[)}\]]' ? max([0, l:indent - shiftwidth()]) : l:indent
endfunction
