// Package measure is the folder of what makes a run: the rotation of the arms, their launches,
// and the windows of a launch.
//
//	run      a run from its plan to its record: launches, blocks, neighbours, warnings
//	session  the arms of one launch: thaw one, measure, pause it again
//
// It may import every folder below planning in docs/architecture.md: arms, host, loads, outside,
// undo, wire. It must not parse the output of a tool, compute statistics, or know which
// environment an arm is.
//
// To add: a reason to end a run goes into run, beside the other reasons; a new kind of arm, load
// or probe needs nothing here.
package measure
