//go:build race

package stat

// raced tells that the race detector is on, which is some 8 times slower.
const raced = true
