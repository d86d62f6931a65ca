// Package linux is the folder of kernel interfaces: control groups, processes, namespaces,
// scheduling, seccomp, networks, loop devices, mounts, storage.
//
// Each package reads and writes below a root directory where the kernel has files, so that tests
// can put a fixture there; comments name the kernel version that an interface needs. It may
// import base and record, and must not know what tare measures.
//
// To add: an interface of the kernel is one package.
package linux
