// Package measure is the folder that executes a plan: it launches arms, and measures their windows in
// blocks of random order.
//
//	run      a whole run, from its plan to its record: launches, pilot, blocks, neighbours, warnings
//	advise   what wins a loss back: candidates are tried in stages, and the best one is proved
//	session  the processes of one arm during a launch: thaw, measure a window, pause
//
// It may import planning and the folders below it (docs/architecture.md), but not stat and logs:
// it must not compute statistics, parse the output of a tool, or depend on the kind of an arm's
// environment. advise alone reads effects, by the functions of analysis.
//
// A new environment, load or probe needs no change here. A new reason to end a run belongs into
// run/turns.go (reasonOf).
package measure
