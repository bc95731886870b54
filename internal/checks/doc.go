// Package checks tests the repository itself: which packages may import which, that guides
// compile and link to what exists, and that every package looks for leaked goroutines.
package checks
