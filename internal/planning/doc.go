// Package planning is the folder of experiments and of the plans that follow from them.
//
//	experiment  reads an experiment file or preset; each error has its line and column; presets/*.yaml
//	plan        makes arms, order and lengths of windows of an experiment, the host's facts and a seed
//
// It may import descriptions (arms/environment, host/facts, host/isolation, loads/workload) and the
// packages below them. It must not touch the machine, ask a cluster or keep state: the same
// experiment, facts and seed make the same plan.
//
// To add a preset, write a file in experiment/presets. To add a key, add a field in experiment and
// let plan read it.
package planning
