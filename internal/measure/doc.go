// Package measure is the folder of running: it launches arms, rotates windows over them, and measures
// one window at a time.
//
//	run      executes a plan and writes the record: launches, blocks, neighbours, warnings
//	session  thaws one launched arm, measures a window, and pauses the arm again
//
// It may import every folder below planning in docs/architecture.md: arms, host, loads, outside,
// undo, wire. It must not parse a tool's output, compute statistics, or know which environment an
// arm has.
//
// To add a reason to end a run, add it to run, beside the other reasons. A new kind of arm, load or
// probe needs nothing here.
package measure
