// Package arms is the folder of the environments in which a load runs.
//
//	environment  the contract: Environment describes an environment, OpenArm is an opened one
//	launch       shared by all: processes, control groups, overlays, networks, read-back
//	layers       the host, and the host with container layers one by one
//	oci, gvisor  runc and crun; runsc
//	engines      Docker and Podman
//	pods         pods of Kubernetes
//	beside       a process on the host beside an arm: a neighbour
//	chroot       the host with the programs of an image
//	ungrouped    a process of the host in the root group
//	agent        tare as the first process of a container or pod, which starts the load
//	stream       the half of an arm that is driven over a stream, where tare does not run
//	inspect      which environments this host and user can have, found by trials
//
// It may import host, outside, undo, wire, linux, base and record. It must not know databases or the
// tools that make load.
//
// To add an environment: one folder with a type that implements environment.Environment, one line
// in catalog.Rungs and, for a container, a row in docs/container.md. The suite in
// testing/environmenttest tests it.
package arms
