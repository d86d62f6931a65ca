//go:build !race

package stat

const raced = false
