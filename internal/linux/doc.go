// Package linux is the folder of the kernel's interfaces: control groups, processes, namespaces,
// scheduling, seccomp, networks, loop devices, mounts, storage.
//
// A package reads and writes kernel files below a root directory, so that tests can use fixtures.
// Comments name the kernel version that an interface needs. It may import base and record, and
// must not know what tare measures.
//
// To add a kernel interface: one package.
package linux
