// Package outside is the folder of clients for services outside of tare: container engines,
// clusters, stores.
//
//	engine  Docker and Podman, by their command lines
//	image   tare's own image for pods; unpacking of images
//	kube    Kubernetes: client, pods, node helper, volumes
//	nodes   runs on other nodes
//	ceph    images of a Ceph cluster
//	dirtar  a directory as a tar stream
//
// Each package defines the journal steps that undo its changes. It may import undo, linux, base
// and record. It must not know arms, loads or statistics.
//
// To add a service: add one folder, and list its kinds of journal steps in catalog/steps.go.
package outside
