" Files of Guard end in `.guard`, and so do those of AWS CloudFormation Guard, which is another language. What a file is
" shows in its lines, as it does to `guard check`: a line that only Guard has makes it one; a line that only CloudFormation
" Guard has leaves it to others; a file with neither (a new one) is ours unless somebody has claimed it.

function! s:IsOurs(line) abort
  return a:line =~# '^\%(event {\|trace {\|predicate \|property \|track \|unsafe \|use std\|template \|abstraction \|enforce \|requirement \|system \|component \|compose \)'
        \ || (a:line =~# '^rule ' && a:line =~# ':' && a:line =~# ' then ')
endfunction

function! s:IsCloudFormation(line) abort
  return a:line =~# '^AWS::'
        \ || a:line =~# '^let [^=]*=\s*Resources[.[]'
        \ || a:line =~# '^rule [A-Za-z0-9_]\+\s*\%(([^)]*)\)\=\s*\%(when \|{\)'
endfunction

function! s:Detect() abort
  let l:theirs = 0
  for l:line in getline(1, 1000)
    let l:line = trim(l:line)
    if s:IsOurs(l:line)
      set filetype=guard
      return
    endif
    let l:theirs = l:theirs || s:IsCloudFormation(l:line)
  endfor
  if !l:theirs
    setfiletype guard
  endif
endfunction

autocmd BufNewFile,BufRead *.guard call s:Detect()
