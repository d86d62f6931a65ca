// Package logs is the folder of the readers of other tools' output, for tare import and for the
// drivers of loads.
//
//	format    recognises the tool that wrote a file; splits text into lines, numbers, tables
//	observed  the result of a reader: runs with figures, and the settings that define their load
//	sysbench, pgbench, fio, clickhouse, redis, hyperfine, kubefio, csv
//	          one reader for each format, which also says how to recognise the format
//	importer  groups runs into arms and loads, and writes a result directory
//
// It may import wire/metric, base and record. It starts no program and touches no host.
//
// To add a format: one folder with a reader and one entry in readers (importer/readers.go).
package logs
