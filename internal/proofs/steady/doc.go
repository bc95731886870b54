// Package steady proves that deliveries stay fast under what production does: an import of
// very many events, a snapshot that somebody holds, clocks that differ, rows that cannot be
// read, and very many businesses.
package steady
