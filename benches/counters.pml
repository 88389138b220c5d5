/* Three counters: 1 000 000 states. The same model as counters.guard; each branch is one step. */
byte a, b, c;

active proctype counters() {
  do
  :: d_step { a < 99 -> a = a + 1 }
  :: d_step { b < 99 -> b = b + 1 }
  :: d_step { c < 99 -> c = c + 1 }
  :: d_step { a == 99 && b == 99 && c == 99 -> a = 0; b = 0; c = 0 }
  od
}

ltl low { [] (a + b + c <= 297) }
ltl again { [] <> (a == 0) }
