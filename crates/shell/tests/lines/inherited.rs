//! Variables that a text within a line assigns, and that the line around it gives a value.

use crate::{all_are_unknown, none_deletes};

#[test]
fn a_text_keeps_the_values_of_the_line_around_it() {
    all_are_unknown(&[
        "x='f -delete'; eval 'x=${x:-.}; find $x'",
        "x='f -delete'; . <(echo 'x=${x:-.}; find $x')",
        "x='f -delete' bash -c 'x=${x:-.}; find $x'",
        r#"x='f -delete' bash -c '[ -n "$x" ] || x=.; find $x'"#,
        r#"env x='f -delete' bash -c '[ -n "$x" ] || x=.; find $x'"#,
        "env x='f -delete' sh -c 'x=${x:-.}; find $x'",
        "export x='f -delete'; bash -c 'x=${x:-.}; find $x'",
        r#"export x=-delete; bash -c 'x=${x:-.}; find . -name f "$x"'"#,
        "export T='5 rm f'; bash -c 'T=${T:-60}; timeout $T g'",
        "export T='5 rm f'; bash -c 'false && T=60; timeout $T g'",
        "export T='5 rm f'; bash -c 'timeout $T g; T=5'",
        "export T='5 rm f'; bash -c '(T=5); timeout $T g'",
        "export T='5 rm f'; bash -c 'T=5 true; timeout $T g'",
        "export T='5 rm f'; bash -c 'T=5 & timeout $T g'",
        "export T='5 rm f'; bash -c 'false && T=$$; timeout $T g'",
        "export T='5 rm f'; bash -c 'timeout $T g; ((T++))'",
        "export T='5 rm f'; bash -c 'f() { T=5; }; timeout $T g'",
        r#"export c='rm'; bash -c '[ x ] && c+=(f); "${c[@]}"'"#,
        "echo 'x=${x:-.}; find f $x' | x=-delete bash",
        "set -a; x=-delete; bash -c 'x=${x:-.}; find f $x'",
        "trap 'x=${x:-.}; find f $x' EXIT; x=-delete",
        "x='5 rm f'; eval 'timeout $x g; x=1'",
        "x='5 rm f'; trap 'timeout $x g; x=1' EXIT",
        "x='5 rm f' git -c alias.q='!timeout $x g; x=1' q",
        r#"x='5 rm f' find . -name f -exec sh -c 'timeout $x g; x=1' \;"#,
        "x='5 rm f' flock g -c 'timeout $x g; x=1'",
        "x='5 rm f' tar cf a --checkpoint-action=exec='timeout $x g; x=1' .",
        r#"export x=-exec; bash -c 'find f "$x" rm {} +; x=ls'"#,
        r#"eval 'x="f -delete"'; eval 'x=${x:-.}; find $x'"#,
        "trap 'x=${x:-.}; find f $x' EXIT; eval 'x=-delete'",
        "read x <<< 'f -delete'; export x; bash -c 'x=${x:-.}; find $x'",
        r#"GITHUB_OUTPUT=s; eval 'echo "rm f" >> $GITHUB_OUTPUT; GITHUB_OUTPUT=1'; sh s"#,
        r#"export GITHUB_OUTPUT=s; bash -c 'echo "rm f" >> $GITHUB_OUTPUT; ((GITHUB_OUTPUT))'; sh s"#,
        r#"bash -c 'x=-delete; export x; bash -c "x=\${x:-.}; find f \$x"'"#,
        "export x='5 rm f'; bash -c 'x=$HOME/a & timeout $x g'",
        "export x='5 rm f'; bash -c 'timeout ${x:=5} g'",
        "export x='5 rm f'; bash -c ': ${x:=5}; timeout $x g'",
        "export x='5 rm f'; bash -c 'export x=${x:-5}; timeout $x g'",
        "export x='5 rm f'; bash -c 'readonly x=${x:-5}; timeout $x g'",
        "export x='5 rm f'; bash -c 'f() { local x; timeout ${x:-5} g; }; f'",
        "export x='5 rm f'; bash -c 'f() { local x; }; timeout $x g'",
        "export x='5 rm f'; bash -c 'unset y; timeout $x g'",
        "export x='5 rm f'; bash -c 'declare -i x; timeout $x g'",
    ]);
    none_deletes(&[
        "bash -c 'x=${x:-.}; find $x'",
        "T=${T:-60}; timeout $T make; bash -c 'T=5; timeout $T g'",
        "x=a; bash -c 'x=.; find $x'",
        "bash -c 'T=${T:-60}; timeout $T g'",
        "for d in a b; do bash -c 'd=$1; ls \"$d\"' _ $d; done",
    ]);
}
