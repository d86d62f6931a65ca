// Package measure is the folder of a run: launches, blocks and windows.
//
//	run      a run from its plan to its record: launches, blocks, neighbours, warnings
//	session  one arm of a launch: thaw, settle, measure, pause
//
// It may import planning and the folders below it (docs/architecture.md), but not stat and logs:
// it must not compute statistics or parse the output of a tool, and it must not know which
// environment an arm has.
//
// To add a reason to end a run: one more in run, beside the others. A new environment, load or
// probe needs no change here.
package measure
