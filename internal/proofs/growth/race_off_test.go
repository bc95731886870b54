//go:build !race

package growth_test

const raceEnabled = false
