//go:build !race

package plans_test

const raceEnabled = false
