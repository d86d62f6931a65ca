package format

import (
	"fmt"
	"strings"

	"github.com/tarelab/tare/record"
)

// All sentences of this package for users. The code that reads has none of its own (tools/sentences).

// listed joins names: "a, b and c".
func listed(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// Warnings and their remedies.
var (
	noEnd          = record.Say("no_line_end")
	commasRead     = record.Say("decimal_commas_read")
	checkCommas    = record.Say("check_decimal_commas")
	lookAtLog      = record.Say("nothing_measured_see_log")
	otherMark      = record.Say("other_mark")
	fileEachSide   = record.Say("file_for_each_side")
	longLine       = record.Say("long_line")
	checkLongLine  = record.Say("check_long_line")
	fileEachOutput = record.Say("file_for_each_tool")
)

func undefinedInJSON(tool string) record.Said { return record.Say("undefined_in_json", "tool", tool) }

func undefinedFigure(tool string) record.Said { return record.Say("undefined_figure", "tool", tool) }

func otherJSON(tool string) record.Said { return record.Say("json_of_other_tool", "tool", tool) }

func otherOutput(tool string) record.Said { return record.Say("output_of_other_tool", "tool", tool) }

func moreWarnings(n int) record.Said { return record.Say("more_warnings", "n", n) }

// Errors: why Detect found no tool.
const (
	noText    = "there is no text in it"
	otherKeys = "JSON, but none of the keys of a tool that is known"
)

// Errors: keysOf is what shows a tool.
func keysOf(tool string) string { return "the JSON keys of " + tool }

// Errors: noKnownLine is why no tool is known.
func noKnownLine(first string) string {
	return "no line that a known tool writes; it begins with: " + first
}

// Errors about JSON documents and their remedies.
const (
	splitFile     = "split the file"
	longInJSON    = "the JSON document that begins here has a line longer than 1 MiB"
	manyLines     = "print it on many lines: jq . FILE"
	openJSON      = "the JSON document that begins here has no end"
	nothingOfJSON = "the benchmark was stopped or the file is cut off; nothing of the document is used"
	pointForComma = "a number with a decimal comma: write it with a point"
)

func largeJSON(mebibytes int) string {
	return fmt.Sprintf("the JSON document is larger than %d MiB", mebibytes)
}

// Errors: otherType is about a field of JSON.
func otherType(field, is, want string) string {
	return fmt.Sprintf("%s is a %s where a %s is expected", field, is, want)
}

// Errors about input that no reader understands, and their remedies.
const (
	withZstd     = "compressed with zstd"
	unpackZstd   = "unpack it first: zstd -d FILE"
	withXZ       = "compressed with xz"
	unpackXZ     = "unpack it first: xz -d FILE"
	archive      = "a ZIP archive or a spreadsheet"
	unpackSheet  = "unpack it first, or save the sheet as CSV"
	utf16        = "UTF-16 text"
	convertUTF16 = "convert it first: iconv -f UTF-16 -t UTF-8 FILE"
	program      = "a program"
	database     = "a database"
	nameOutput   = "name the file with the benchmark's output"
	checkGzip    = "check the file with gzip -t"
	notText      = "the input is not text (a zero byte)"
	copyAgain    = "copy the file again; what came before the damage was read"
	emptyInput   = "the input is empty"
	checkWritten = "check that the benchmark's output was really written to this file"
	checkFormat  = "check the file: it is not in a format that is known"
)

func foreign(kind string) string { return "the input is " + kind }

func damagedHeader(err error) string { return fmt.Sprintf("the gzip header is damaged: %v", err) }

func damaged(err error) string {
	return fmt.Sprintf("the compressed input is damaged or cut off: %v", err)
}

func noOutput(tool string, lines int) string {
	return fmt.Sprintf("no output of %s in %d lines", tool, lines)
}

// Errors: looksLike names the tool whose output it is.
func looksLike(tool string, line int) string {
	return fmt.Sprintf("this looks like output of %s (line %d)", tool, line)
}

// Places of errors in a file.
func inLine(line int, text string) string { return fmt.Sprintf("line %d: %s", line, text) }
func inColumn(line, column int, text string) string {
	return fmt.Sprintf("line %d, column %d: %s", line, column, text)
}
