// Package logs is the folder of the readers of other tools' output.
//
//	format    recognises a tool by its lines; parses lines, numbers, tables, Markdown
//	observed  what a reader returns: runs with figures, and what makes a load another one
//	sysbench, pgbench, fio, clickhouse, redis, hyperfine, kubefio, csv
//	          one reader for each format; it declares its name, words, versions and file names
//	importer  groups runs into arms and loads and writes a result directory
//
// It may import wire/metric, base and record. It starts no program and touches no host.
//
// To add a format: one folder with a reader and one entry in readers (importer/readers.go).
package logs
