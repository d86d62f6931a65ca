// Package arms is the folder of the places in which a load runs.
//
//	environment  the contract: Environment describes a place, Arm is an opened one
//	launch       what all places share: processes, groups, overlays, networks, read-back
//	layers       the host, and the host with container layers one by one
//	oci, gvisor  runc and crun; runsc
//	engines      Docker and Podman
//	pods         pods of Kubernetes
//	beside       a neighbour on the host, with limits
//	chroot       the host with the programs of an image
//	agent        the first process of a pod, which starts the others
//	inspect      which of these this host and user can have, found by trying
//
// It may import host, outside, undo, wire, linux, base and record. It must not know tools or
// databases.
//
// To add: an environment is one folder with a type that implements environment.Environment, and
// one line in catalog. The suite in testing/environmenttest then tests it.
package arms
