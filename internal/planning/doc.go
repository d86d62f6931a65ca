// Package planning is the folder of what was asked and what follows from it.
//
//	experiment  an experiment file or preset, with line and column for each error; presets/*.yaml
//	plan        arms, order and lengths of windows, from the experiment, the host's facts and the seed
//
// It may import descriptions (arms/environment, host/facts, host/isolation, loads/workload) and
// what is below them. It must not touch the machine, ask a cluster or keep state: the same
// experiment, facts and seed make the same plan.
//
// To add: a preset is one file in experiment/presets; a key of the file is one field in
// experiment, which plan reads.
package planning
