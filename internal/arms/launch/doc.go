// Package launch is what all environments on this machine share: a directory,
// a copy of the data set and control groups for an arm, and the way in which
// this very binary is started in it. It knows processes, descriptors and
// namespaces, and nothing of which layers an arm has or what runs in it.
//
// A child is started as "tare __init FD": it waits on the socket FD until it
// has been put into its control groups and has been told what to do, does it
// (namespaces, mounts, capabilities, filter) and then executes this binary
// again with the arguments of the load. Every arm goes this way, the host too,
// so that the way itself is no difference.
package launch
