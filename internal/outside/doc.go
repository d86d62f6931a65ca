// Package outside is the folder of clients of other systems: container engines, Kubernetes,
// Ceph.
//
//	engine  Docker, Podman and containerd
//	image   tare's own image for pods; loading and unpacking of images
//	kube    Kubernetes: client, manifests, pods, volumes, node helper
//	nodes   whole runs on other nodes, through the node helper
//	ceph    images of a Ceph cluster
//	dirtar  a directory as a tar stream
//
// Each package has the journal's steps that undo its changes. The folder may import undo,
// linux, base and record. It must not know arms, loads or statistics.
package outside
