// Package logs is the folder of readers of other tools' output.
//
//	format    recognises a tool's output; lines, numbers, JSON, warnings
//	observed  what a reader returns: runs with figures and settings
//	sysbench, pgbench, fio, clickhouse, redis, hyperfine, kubefio, csv
//	          one reader for each format: it declares name, programs, words, versions and file names
//	importer  groups what was read into arms and loads, and writes a result directory
//
// It may import wire/metric, base and record. It runs nothing and touches no host.
//
// To add: a format is one folder with a reader and one line in importer/readers.go.
package logs
