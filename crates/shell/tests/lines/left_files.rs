//! Files that the line fills with its own text although no word names them, and that it runs.

use crate::{all_are_read, all_are_unknown};

#[test]
fn scripts_that_a_builder_copies_are_text_of_the_line() {
    all_are_unknown(&[
        "echo 'rm -rf f' > s.sh; make s; ./s",
        "echo 'rm -rf f' > s.sh; make ./s; bash -c ./s",
        "printf 'rm -rf f' > bin/s.sh; gmake bin/s; env bin/s",
        "gcc -E -P -x c - -o s <<< 'rm -rf f'; chmod +x s; ./s",
        "echo 'rm -rf f' | clang --preprocess -P - -o s; chmod +x s; ./s",
        "gcc -MM -MT 'rm -rf f;#' -MFs g.c; chmod +x s; ./s",
        "printf 'rm f' > q; ld -r -b binary --oformat binary -o z q; chmod +x z; ./z",
        "printf 'rm f' > q; cmake -E copy q z; chmod +x z; ./z",
        "printf 'rm f' > q; docker cp q c:/q; docker cp c:/q z; ./z",
        "gdb -batch -ex 'set logging file s' -ex 'set logging enabled on' -ex 'echo rm f\\n'; sh s",
    ]);
    all_are_read(&[
        "make s; ./s",
        "cat > a.c <<< 'int main() {}'; gcc -O2 -o a a.c && ./a",
        "gcc -MMD -MF a.d -c a.c -o a.o; gcc -o app a.o; ./app",
        "cmake -B build && cmake --build build && ./build/app",
        "cmake -E make_directory build; cd build; ./app",
        "docker cp c:/x .; ./y",
        "gdb -batch -ex run ./prog; ./prog",
    ]);
}

#[test]
fn archives_give_files_of_other_names() {
    all_are_unknown(&[
        "echo 'rm -rf f' | lzma > s.lzma; unlzma s.lzma; sh s",
        "echo 'rm -rf f' | lzma > s.lzma; lzma -d s.lzma; sh s",
        "echo 'rm -rf f' | pigz > s.gz; unpigz s.gz; sh s",
        "echo 'rm -rf f' | lz4 > s.lz4; lz4 s.lz4; . ./s",
        "echo 'rm -rf f' | gpg -c -o s.gpg; gpg --decr s.gpg; sh s",
        "printf 'rm f' | xz > s.xz; XZ_OPT=-d xz s.xz; sh s",
        "export XZ_DEFAULTS=--decompress; printf 'rm f' | xz > s.xz; xz s.xz; sh s",
        "printf 'rm f' > q; tar cf a.tar --transform=s/q/z/ q; tar xf a.tar; ./z",
        "printf 'rm f' > q; tar cf - q | tar xf - --xfo s/q/z/; ./z",
        "printf 'rm f' > q; bsdtar cf a.tar -s /q/z/ q; bsdtar xf a.tar; ./z",
        // a hook
        "printf 'rm f' > q; tar cf a.tar --transform=s,q,hooks/pre+commit, q; cd .git; tar xf ../a.tar; cd ..; git commit -m x",
        "printf 'rm f' > p.sh; cd .git/hooks; cp ../../p.sh commit-msg.sh; make commit-msg; git commit -m x",
    ]);
    all_are_read(&[
        "curl -L h | tar xz --strip-components=1; ./configure && make",
        "tar xf a.tar.gz; ./a/configure",
        "tar czf a.tgz --transform 's,^,a/,' src; ./deploy",
        "XZ_OPT=-9 tar cJf a.tar.xz src; ./deploy",
        "gpg --verify a.asc a; sh install.sh",
        "cd .git && ls; cd ..; git status",
    ]);
}

#[test]
fn texts_of_words_are_left_in_files() {
    all_are_unknown(&[
        "git commit -m 'rm -rf f'; sh .git/COMMIT_EDITMSG",
        "git -C g commit -m 'rm -rf f'; . g/.git/COMMIT_EDITMSG",
        "git merge -m 'rm -rf f' b; bash .git/MERGE_MSG",
        "git commit -m 'rm f'; git format-patch -1; sh 0001-rm-f.patch",
        "ssh-keygen -N '' -f k -C 'x;rm -rf f'; sh k.pub",
        "ssh-keygen -N '' -f k -C 'x;rm -rf f'; . ./k.pub",
        "echo 'rm f' > q.c; gcc -save-temps -c q.c; sh q.i",
        "echo 'rm f' > q.c; gcc --save-temps=obj -c q.c; sh q.i",
    ]);
    all_are_read(&[
        "ssh-keygen -t ed25519 -f k -N ''; cat k.pub; sh deploy.sh",
        "git commit -m x; sh deploy.sh",
        "git pull; ./build.sh",
    ]);
}
