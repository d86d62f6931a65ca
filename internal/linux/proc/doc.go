// Package proc reads the text files of the kernel, /proc, /sys and the files of
// control groups, into numbers in base units (seconds, bytes, counts). Everything
// is rooted at a path, so that a fixture tree can stand in for /. It knows the
// shapes of the files and nothing of what their numbers are used for.
//
// Missing is not zero: a number that is absent, negative, malformed or cut off
// is NaN or an error. A line counts only when it ends in a newline, because the
// kernel ends every line in one and a cut-off number looks like a smaller one.
//
// The functions that take the text of a file and fill in a slice or return a
// struct allocate nothing unless they fail; the methods of FS are for cold paths.
package proc
