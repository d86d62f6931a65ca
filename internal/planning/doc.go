// Package planning is the folder of experiments and plans: what a user asks for and what follows
// from it.
//
//	experiment  reads an experiment file or preset; errors have line and column; presets/*.yaml
//	plan        arms, order and lengths of windows, from experiment, host's facts and seed
//
// It may import descriptions (arms/environment, host/facts, host/isolation, loads/workload), stat
// and the folders below. It must not touch the machine, ask a cluster or keep state: the same
// experiment, facts and seed give the same plan.
//
// To add: a preset is one file in experiment/presets and its name in README; a key of the file is
// one field in experiment, which plan reads.
package planning
