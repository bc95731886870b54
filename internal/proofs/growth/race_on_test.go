//go:build race

package growth_test

const raceEnabled = true
