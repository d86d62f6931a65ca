// Package base is the folder of helpers that three or more folders use.
//
//	hint      errors with a remedy
//	quantity  numbers, times and sizes for people
//	messages  the sentences for people, by key
//	allow     names of options: which may reach a program
//	units     bytes, seconds and rates as people, servers and tools write them
//
// It imports nothing of tare but record, and should not grow: what two folders use stays with
// the lower one.
package base
