// Package proc parses the text files of the kernel, in /proc, /sys and control groups, into
// numbers in base units (seconds, bytes, counts). All paths are below a root, so that a fixture
// tree can stand in for /. The package knows the formats of the files and not what the numbers
// are used for.
//
// Missing is not zero: a number that is absent, negative, malformed or cut off is NaN or an
// error. A line counts only if it ends in a newline. The kernel ends every line in one, and a
// number that is cut off looks like a smaller number.
//
// Functions that parse a text into a slice or a struct allocate nothing unless they fail. The
// methods of FS allocate: do not use them within a window.
package proc
