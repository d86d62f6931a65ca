// Package testing is the folder of support for tests: conformance suites (environmenttest,
// launchtest, workloadtest, servertest), simulated servers and clusters (kubetest, enginetest,
// cephtest, nfstest), arms that lost (remedytest), images (imagebuild), faulty file systems
// (faultfs), JSON schemas of tare's types (schemas), and testneed, with which a test says that it
// needs root, a tool or a feature of its machine.
//
// It may import every folder. No program may import it (.depguard.yaml).
//
// To add a suite or a simulated service: add one folder.
package testing
