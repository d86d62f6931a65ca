// Package loads is the folder of the workloads: programs that do work for an arm and count their
// operations in shared memory.
//
//	workload    describes loads as data: parameters, metrics, the processes to start; has the
//	            descriptions of tare's own loads and of the neighbours
//	load        runs tare's own loads in an arm; has code that all drivers share
//	sysbench, pgbench, fio, clickhouse, redis
//	            loads that use a tool or a protocol, each with its description and its driver.
//	            The driver starts the tool and counts its operations, window by window
//
// It may import databases, logs, wire, linux, undo/trust, base and record. A load must
// not know another load, or the environment in which it runs.
//
// To add a load: one folder with its description (workload.go) and its driver, one line in
// catalog.Workloads and one in catalog/bodies. Test it with the suite in testing/workloadtest.
package loads
