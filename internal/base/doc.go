// Package base is the folder of helpers that three or more folders use.
//
//	hint      errors with a remedy
//	quantity  numbers, times and sizes for people
//	messages  the sentences of a report, by key
//	allow     lists of the options that may reach a program
//	units     sizes, times and rates as people, servers and tools write them
//
// It imports nothing of tare but record. It should not grow: a helper that only two folders use
// belongs into the one that the other imports.
package base
