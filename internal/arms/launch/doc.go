// Package launch is what all environments on this host share: the directory, the copy of the
// data set and the control groups of an arm, and how tare's binary is started in it. It knows
// processes, descriptors and namespaces; it knows neither which layers an arm has nor what runs
// in it.
//
// tare starts a child as "tare __init DESCRIPTOR". The child waits at the socket until tare has
// moved it into its control groups and has sent a Request. It enters namespaces, mounts file
// systems, drops capabilities, installs the seccomp filter, and then executes tare's binary with
// the arguments of the load; or it copies a data set. Every arm starts this way, the host too, so
// that the start makes no difference between arms.
package launch
