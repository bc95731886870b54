// Package racetest explores the races of acts on a store, one interleaving of
// their statements after the other.
package racetest
