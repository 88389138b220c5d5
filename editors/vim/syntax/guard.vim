" Syntax of Guard, a language for the safety of agents.
"
" The lists of words are those of the lexer; a test compares them.

if exists('b:current_syntax')
  finish
endif

let s:temporal_words = 'always eventually next weak_next until unless release strong_release previously weak_previously
  \ once historically since back_to never'
let s:temporal_letters = 'G F X N U W R M Y Z O H S B A E P AG AF AX EG EF EX'
let s:operators = 'and or not in as matches contains starts_with ends_with precedes within'
let s:reserved = 'if then else cases when forall exists'
let s:generic_types = 'list set map'
let s:constants = 'true false null'
let s:look_ahead = 'any all count'
let s:contextual = 'ordered events lines each records join id meta complete where format from message step steps end
  \ formal over valid absorbing terminal reward learn load import smoothing by order pac epsilon
  \ delta on violated satisfied presumably_violated presumably_satisfied unknown for unseen log warn
  \ reflect ask invoke block stop error allow state init label assume guarantee given expect at C I'
let s:types = 'bool int float string time duration json pred'
let s:functions = 'len lower upper trim split words min max abs floor mod add last json commands text join remove drop
  \ slice index_of range base64 hex url_decode path below host normalize before capture replace todo count'

" Words of a list, where they are no member (`.next`).
function! s:Words(group, words, after) abort
  let l:any = join(split(a:words), '\|')
  execute 'syntax match' a:group '/\%(\.\s*\)\@<!\<\%(' . l:any . '\)\>' . a:after . '/'
endfunction

let s:infix = 'and or in not as matches contains starts_with ends_with precedes within then else leads until unless release
  \ strong_release since back_to U W R M S B'

" A contextual word is a keyword where another word, a string, a bracket or the end of the line follows.
call s:Words('guardContextual', s:contextual, '\ze\%(\s*$\|\s\+\%(\%(' . join(split(s:infix), '\|') . '\)\>\)\@![A-Za-z0-9_"{[(]\|\s\+==\@!\)')
syntax match guardContextual /\%(\d\s\+\)\@<=steps\=\>/
call s:Words('guardFunction', s:functions, '\ze\s*(')
call s:Words('guardFunction', 'count', '\ze\s*\[')
call s:Words('guardLookAhead', s:look_ahead, '\ze\s\+\h\w*\s\+in\>')
call s:Words('guardTemporal', s:temporal_words . ' ' . s:temporal_letters, '')
syntax match guardTemporal /\<leads\s\+to\>/
call s:Words('guardWordOperator', s:operators, '')
call s:Words('guardReserved', s:reserved, '')
call s:Words('guardType', s:generic_types, '')
execute 'syntax match guardType /\%([:<]\s*\|\<as\s\+\)\@<=\<\%(' . join(split(s:types), '\|') . '\)\>/'
call s:Words('guardConstant', s:constants, '')
syntax match guardVerdict /\s\@<=\%(presumably_\)\=\%(satisfied\|violated\)\>\ze\s*\%($\|at\>\|=>\|\/\/\)/
syntax match guardVerdict /\s\@<=unknown\>\ze\s*\%($\|at\>\|[,}]\|\/\/\)/
syntax match guardKey /\%(\.\s*\)\@<!\<\h\w*\ze\s*:/

syntax match guardOperator /<->\|<=>\|->\|=>\|==\|!=\|<=\|>=\|&&\|||\|??\|[-+*<>=!&|?/]/
syntax match guardNumber /\<\d[0-9_]*\%(\.\d[0-9_]*\)\=\%([eE][+-]\=\d\+\)\=\>%\=/
syntax match guardDuration /\<\d[0-9_]*\%(\.\d[0-9_]*\)\=\%(ns\|us\|ms\|s\|m\|h\|d\)\>/
syntax match guardAttribute /@\h\w*/

execute 'syntax match guardItem /^\%(' . join(split(g:guard#items), '\|') . '\)\>/ nextgroup=guardName skipwhite'
syntax match guardName /\h\w*/ contained

syntax match guardEscape /\\\%(u{\x\+}\|u\x\{4}\|.\)/ contained
syntax region guardString start=/"/ end=/"/ oneline contains=guardEscape
syntax region guardMessage matchgroup=guardString start=/\%(\<message\s\+\|\<id\s*=\s*\)\@<="/ end=/"/ oneline contains=guardEscape,guardBrace,guardInterpolation
syntax match guardBrace /{{\|}}/ contained
syntax region guardInterpolation matchgroup=guardBrace start=/{{\@!/ end=/}/ oneline contained contains=TOP,guardString,guardMessage,guardKey

" A slash after an operand divides; after anything else it begins a regular expression.
syntax match guardRegex /\%([(,=\[{:&|!]\s*\|\<matches\s\+\|\<then\s\+\|\<else\s\+\|^\s\+\)\@<=\/[/*]\@!\%(\\.\|\[\%(\\.\|[^\]\\]\)*\]\|[^/\\[]\)\+\/\a*/

syntax match guardComment /\/\/.*$/ contains=guardTodo,@Spell
syntax match guardDoc /\/\/\/\/\@!.*$\|\/\/!.*$/ contains=@Spell
syntax region guardComment start=/\/\*/ end=/\*\// contains=guardTodo,@Spell
syntax keyword guardTodo TODO FIXME contained

highlight default link guardItem Keyword
highlight default link guardName Function
highlight default link guardContextual Keyword
highlight default link guardReserved Conditional
highlight default link guardLookAhead Conditional
highlight default link guardTemporal Special
highlight default link guardWordOperator Operator
highlight default link guardOperator Operator
highlight default link guardType Type
highlight default link guardFunction Function
highlight default link guardConstant Constant
highlight default link guardVerdict Constant
highlight default link guardKey Identifier
highlight default link guardNumber Number
highlight default link guardDuration Number
highlight default link guardAttribute PreProc
highlight default link guardString String
highlight default link guardMessage String
highlight default link guardEscape SpecialChar
highlight default link guardBrace Delimiter
highlight default link guardRegex String
highlight default link guardComment Comment
highlight default link guardDoc SpecialComment
highlight default link guardTodo Todo

let b:current_syntax = 'guard'
