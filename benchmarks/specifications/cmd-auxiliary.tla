\* The auxiliary procedure of the CMD paper (3.1), among N entities and with at most M messages, each to one other
\* entity. `know` and `got` are what each entity knows of the past: for causal order, and for that alone.
---- MODULE CMD ----
EXTENDS Naturals, FiniteSets
CONSTANTS N, M
P == 1..N
VARIABLES V, R, net, got, know, nsent, bad
vars == <<V, R, net, got, know, nsent, bad>>
Max(a,b) == IF a > b THEN a ELSE b
Init == /\ V = [i \in P |-> [j \in P |-> 0]] /\ R = [i \in P |-> {}] /\ net = {} /\ got = [i \in P |-> {}]
        /\ know = [i \in P |-> {}] /\ nsent = 0 /\ bad = FALSE
Send(i,j) == /\ nsent < M /\ i # j
  /\ LET t == V[i][i]+1 IN
     /\ V' = [V EXCEPT ![i][i] = t]
     /\ net' = net \cup {[s |-> i, d |-> j, v |-> [V[i] EXCEPT ![i] = t], r |-> R[i], p |-> know[i]]}
     /\ R' = [R EXCEPT ![i] = @ \cup {<<i,j,t>>}]
     /\ know' = [know EXCEPT ![i] = @ \cup {<<i,t,j>>}]
  /\ nsent' = nsent+1 /\ UNCHANGED <<got, bad>>
Ok(m) == \A x \in m.r : x[2] = m.d => V[m.d][x[1]] >= x[3]
Deliver(m) == LET j == m.d IN
  /\ Ok(m)
  /\ V' = [V EXCEPT ![j] = [k \in P |-> IF k = j THEN V[j][j]+1 ELSE Max(V[j][k], m.v[k])]]
  /\ R' = [R EXCEPT ![j] = @ \cup m.r]
  /\ net' = net \ {m}
  /\ got' = [got EXCEPT ![j] = @ \cup {<<m.s, m.v[m.s], j>>}]
  /\ know' = [know EXCEPT ![j] = @ \cup m.p \cup {<<m.s, m.v[m.s], j>>}]
  /\ bad' = (bad \/ \E x \in m.p : x[3] = j /\ x \notin got[j])
  /\ UNCHANGED nsent
Next == (\E i,j \in P : Send(i,j)) \/ (\E m \in net : Deliver(m))
Spec == Init /\ [][Next]_vars
Causal == ~bad
====
