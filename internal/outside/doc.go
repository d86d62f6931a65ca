// Package outside is the folder of whom tare asks and commands: container engines, clusters,
// stores.
//
//	engine  Docker and Podman
//	image   tare's own image for pods; unpacking of images
//	kube    Kubernetes: clients, pods, node helper, volumes
//	nodes   a run on other nodes, led from here
//	ceph    images of a Ceph cluster
//	dirtar  a directory as a tar stream
//
// Each has the steps of the journal by which its changes are undone. It may import undo, linux,
// base and record. It must not know arms, loads or statistics.
package outside
