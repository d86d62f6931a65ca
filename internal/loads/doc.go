// Package loads is the folder of the programs that do work and count it.
//
//	workload    the contract of a load: parameters, metrics, the processes to start; and the
//	            descriptions of tare's own loads and of neighbours
//	load        tare's own loads as they run in an arm, and what the drivers share
//	sysbench, pgbench, fio, clickhouse, redis
//	            loads by a tool or a protocol, each with its description and its driver, which
//	            counts operations window by window
//
// It may import databases, logs, wire, linux, undo/trust, base and record. A load must not know
// another load or where it runs.
//
// To add a load: one folder with its description (workload.go) and its driver, one line in
// catalog.Workloads and one in catalog/bodies. The suite in testing/workloadtest tests it.
package loads
