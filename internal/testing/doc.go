// Package testing is the folder of what only tests need: conformance suites (environmenttest,
// launchtest, workloadtest, servertest), played servers and clusters (kubetest, enginetest,
// cephtest, nfstest), faultfs, and testneed, which says what a test needs of its machine.
//
// It may import every folder. No program may import it (tools/layers.sh).
package testing
