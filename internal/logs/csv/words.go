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
	commasRead    = "numbers with a decimal comma were read as if it were a point"
	checkCommas   = "check that they are not thousands separators"
	tablePassed   = "the table that begins here has no figure of a known column; it was not read"
	writeOne      = "write one number into each field"
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

func aRange(field, column string) string {
	return fmt.Sprintf("%q in the column %q is a range of unknown meaning; it and others like it were not read", field, column)
}

func columnLeftOut(name string) string { return fmt.Sprintf("the column %q was not read", name) }

// statisticRows says which rows are no runs.
func statisticRows(n int, words []string) string {
	return fmt.Sprintf("%d rows are statistics of other rows and no runs; they were not read (%s)", n, strings.Join(words, ", "))
}

func noNumber(field, column string) string {
	return fmt.Sprintf("%q in the column %q is no number; it and others like it were not read", field, column)
}

// Errors and their remedies.
const (
	noRowOnPage    = "the tables of the page have no row"
	noRow          = "the table has a heading and no row"
	openHeading    = "the heading has an open quotation mark"
	openField      = "a quotation mark is open at the end of the line"
	nameColumns    = "put a row with the names of the columns above the figures"
	decimalCommas  = "if the numbers have decimal commas, write points or separate the columns by semicolons"
	noColumn       = "the table has no row with a figure of a known column"
	callColumn     = "name the column of the figures: --column 'NAME=throughput'; tare import --known-columns lists all that is known"
	onlyStatistics = "all rows of the table are statistics, and none is a run"
	keepRuns       = "keep the rows of the runs in the table; rename a load or an arm that is called like a statistic"
	splitOrRename  = "split it; a column of rising times (second, timestamp) makes its rows reports of one run"
	splitThePage   = "split it"
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

func leaveOneOut(column string) string {
	return fmt.Sprintf("leave one out: --column '%s=ignore'", column)
}

// unknownIn begins the list of unknown columns of a table.
func unknownIn(line, n int) string {
	if n == 1 {
		return fmt.Sprintf("line %d: unknown column of the table", line)
	}
	return fmt.Sprintf("line %d: %d unknown columns of the table", line, n)
}

func manyRows(most int) string {
	return fmt.Sprintf("the table has more than %d rows that are runs", most)
}

func manyTables(most int) string { return fmt.Sprintf("the page has more than %d tables", most) }
