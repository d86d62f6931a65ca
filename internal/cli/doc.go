// Package cli is the command line: one file for each command, with its flags and with everything that
// it prints except reports. It connects the other packages, and is the only one with flags.
//
// Results go to standard output, everything else to standard error. It may import every folder but
// testing. It must not compute or measure.
//
//	settings    values of flags in the environment and in configuration files
//	completion  the scripts of the shells, which ask Complete
//
// To add a command: one file with a type and its Run method, and one field in the list of commands
// in cli.go. Flags of a type with words() complete by themselves; others have a row in flagValues.
package cli
