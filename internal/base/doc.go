// Package base is the folder of helpers that three or more folders use.
//
//	hint      errors with a remedy
//	quantity  numbers, times and sizes for people
//	messages  sentences of reports, by key
//	allow     the options that may be passed on to a program
//	units     readers of bytes, seconds and rates with their units
//
// It imports nothing of tare but record. It should not grow: a helper of only two folders belongs to
// the lower one.
package base
