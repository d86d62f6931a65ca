// Package analysis turns a record into effects, the ladder and verdicts. A result directory is all
// that it needs.
//
//	answer     the answer that a result states first, and its findings
//	cause      why loads lost: causes with their shares
//	arrange    the order of loads and arms in a report
//	gate       limits on effects: tare check
//	compare    two results
//	calibrate  planted losses: what was planted against what was measured
//
// One fit over all windows of a load estimates each metric (stat.FitWindows); effects, steps and
// prices are contrasts of that fit. Arms are compared with the control, the mean of the baseline
// and its twin; only the A/A check compares these two with each other.
//
// question.go decides which arm is asked about, judge.go turns intervals into verdicts, and words.go
// has the sentences for users.
//
// It may import stat, wire/metric, base and record. It must not print or touch the host.
//
// To add: a check is one function in checks.go; a finding goes into answer.
package analysis
