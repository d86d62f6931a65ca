package format

import (
	"fmt"
	"strings"
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
const (
	noEnd          = "the last line has no end and was not read"
	commasRead     = "numbers with a decimal comma were read as if it were a point"
	checkCommas    = "check that they are not thousands separators"
	lookAtLog      = "nothing was measured, or the tool or its clock was wrong: look at the log"
	otherMark      = "lines behind another mark than that of the first lines were not read"
	fileEachSide   = "give each side of a diff, or each source, a file of its own"
	longLine       = "the line is longer than 1 MiB; only its beginning was looked at"
	checkLongLine  = "no tool that is known writes such a line: check what it is"
	fileEachOutput = "give each tool's output a file of its own"
)

func undefinedInJSON(tool string) string {
	return tool + " wrote nan or inf where nothing was measured; these figures are missing"
}

func undefinedFigure(tool string) string {
	return tool + " wrote nan or inf for a figure, which is missing"
}

func otherJSON(tool string) string { return "JSON that is not " + tool + "'s was not read" }

func otherOutput(tool string) string { return "output of " + tool + " begins here; it was not read" }

func moreWarnings(n int) string { return fmt.Sprintf("%d more warnings were left off", n) }

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
