// Package loads is the folder of what produces work and counts it.
//
//	workload    the description of each load: name, parameters, metrics, the processes to start
//	load        tare's own loads: oltp, commit, rpc, noise, command
//	sysbench, pgbench, fio, clickhouse, redis
//	            drivers: they start the tool and count its operations window by window
//
// It may import databases, logs, wire, linux, base and record. A driver must not know another
// tool or the place in which it runs.
//
// To add: a load is one folder with its driver, one file in workload, and one line in
// catalog. The suite in testing/workloadtest then tests it.
package loads
