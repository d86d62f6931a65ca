package csv

import (
	"fmt"

	"github.com/tarelab/tare/record"
)

// All sentences of this package for users. The code that reads has none of its own (tools/sentences).

// output is what the package reads.
const output = "a table"

// Warnings and their remedies.
var (
	shortRow      = record.Say("short_row")
	fileCut       = record.Say("file_cut")
	lastNumber    = record.Say("last_number_cut")
	checkIt       = record.Say("check_it")
	thousandsRead = record.Say("thousands_read")
	checkThem     = record.Say("check_them")
	writePoint    = record.Say("write_point")
	commasRead    = record.Say("decimal_commas_read")
	checkCommas   = record.Say("check_decimal_commas")
	tablePassed   = record.Say("table_not_read")
	writeOne      = record.Say("write_one_number")
)

func ambiguousComma(field string) record.Said { return record.Say("ambiguous_comma", "value", field) }

func noUnit(column string) record.Said { return record.Say("column_without_unit", "column", column) }

func writeUnit(column string) record.Said { return record.Say("write_unit", "column", column) }

func aRange(field, column string) record.Said {
	return record.Say("range_not_read", "value", field, "column", column)
}

func columnLeftOut(name string) record.Said { return record.Say("column_not_read", "column", name) }

// statisticRows says which rows are no runs.
func statisticRows(n int, words []string) record.Said {
	return record.Say("rows_of_statistics", "rows", n, "words", words)
}

func noNumber(field, column string) record.Said {
	return record.Say("no_number", "value", field, "column", column)
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
