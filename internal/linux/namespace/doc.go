// Package namespace does what a process needs to live in namespaces of its
// own: mounts, the change of its root, capabilities, the host name, anonymous
// network namespaces. It acts on the calling thread or process and knows
// nothing of containers or arms; what belongs into a container is told by its
// callers in the words of the OCI runtime specification.
package namespace
