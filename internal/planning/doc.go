// Package planning is the folder of experiments and plans. An experiment is a user's file; a plan lists
// the arms, and chooses the lengths of windows, to execute it on one host.
//
//	experiment  reads and writes experiment files; errors have line and column; has the presets
//	remedy      what may win a loss back, and the arm that tests it
//	plan        makes arms, order and lengths of windows from experiment, facts of the host and seed
//
// It may import descriptions (arms/environment, host/facts, host/isolation, loads/workload), stat
// and the folders below. It must not read or change the host, ask a cluster or keep state: the
// same experiment, facts and seed give the same plan.
//
// To add a preset: one file in experiment/presets. To add a key of experiment files: a field of
// Experiment, Workload or ArmSpec, an entry in the table of keys, a row in docs/experiment.md, and its
// use in plan.
package planning
