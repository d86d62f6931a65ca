// Package namespace does the work inside new namespaces: mounts, a new root, capabilities, the
// host name. It acts on the calling thread or process and knows neither containers nor arms;
// callers describe what a container needs in the words of the OCI runtime specification.
package namespace
