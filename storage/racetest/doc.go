// Package racetest explores the races of acts on a database, one interleaving of
// their statements after the other.
//
// Each contender works on a node of its own, through a database that stops it before
// every statement and before every commit. One contender at a time is released, and
// runs to its next stop, to its end, or into a lock that another holds, which
// PostgreSQL is asked about. Every point at which more than one could go on is a
// choice; a depth-first search repeats the run until every choice has been made in
// every way. After each run plain SQL and the store's own reads are held against the
// rules: one winner for each artifact, no survivor of what ended it, no half-state,
// no answer that the act does not have, and an end that some serial order of the acts
// has too.
//
// A test of a database calls [Run] beside storetest.Run, and a second time for one where
// acts share transactions. [Explore] is for one combination of acts, to look at a race
// more closely.
package racetest
