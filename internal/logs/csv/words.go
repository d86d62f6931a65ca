package csv

import (
	"fmt"
	"strings"
)

// All sentences of this package for users. The code that reads has none of its own (tools/sentences).

// output is what the package reads.
const output = "a table"

// Warnings and their remedies.
const (
	shortRow      = "the last row has no end and fewer fields than columns; it was not read"
	fileCut       = "the file is cut"
	lastNumber    = "the last row has no line end: if the file is cut, its last number has lost digits"
	checkIt       = "check it"
	thousandsRead = "numbers with separators between their thousands were read as such"
	checkThem     = "check them"
	writePoint    = "write a point, or no separator"
	callColumns   = "call them tps, throughput, iops, latency (ms), p95 (ms), bandwidth (MiB/s) or time_total (s)"
)

func ambiguousComma(field string) string {
	return fmt.Sprintf("%q can be a decimal sign or a thousands separator; such numbers are missing", field)
}

func noUnit(column string) string {
	return fmt.Sprintf("the column %q has no unit; ratios are right, its own figures are shown as seconds", column)
}
func writeUnit(column string) string {
	return fmt.Sprintf("write it into the heading: %s (ms)", column)
}

func unknownColumns(names []string) string {
	return "columns of unknown meaning were not read: " + strings.Join(names, ", ")
}

func noNumber(field, column string) string {
	return fmt.Sprintf("%q in the column %q is no number; it and others like it were not read", field, column)
}

// Errors and their remedies.
const (
	noRowOnPage   = "the tables of the page have no row"
	noRow         = "the table has a heading and no row"
	openHeading   = "the heading has an open quotation mark"
	openField     = "a quotation mark is open at the end of the line"
	nameColumns   = "put a row with the names of the columns above the figures"
	decimalCommas = "if the numbers have decimal commas, write points or separate the columns by semicolons"
	noColumn      = "no column of the table is one that is known"
	callColumn    = "call a column tps, throughput, iops, latency (ms), p95 (ms), bandwidth (MiB/s) or time_total (s)"
	keepOneColumn = "keep the one that is to be compared"
	splitOrRename = "split it, or rename the column that is none of them"
	splitThePage  = "split it"
)

func numberAsName(name string) string {
	return fmt.Sprintf("the first row does not name the columns: %q is a number", name)
}

func unequalRow(fields, columns int) string {
	return fmt.Sprintf("the row has %d fields, the heading %d", fields, columns)
}

func sameColumns(a, b, metric string) string {
	return fmt.Sprintf("the columns %q and %q are both %s", a, b, metric)
}

func manyRuns(most int) string {
	return fmt.Sprintf("the table has more than %d arms, loads and settings", most)
}

func manyTables(most int) string { return fmt.Sprintf("the page has more than %d tables", most) }
