// Package report prints effects for people: text for a terminal, Markdown for a pull request, a
// page in HTML. It needs only record.Effects, so it can print a report years later from the files.
//
//	chart   the charts of the page, as SVG
//	export  formats for programs
//
// Text and Markdown share one document (document.go and the files that build its sections). Each has
// a renderer, which chooses the form of a table that fits and how a tone (plain, strong, faint) looks.
//
// It may import analysis/answer and analysis/arrange, wire/metric, base and record. It formats and
// selects; it must not compute statistics, read the machine or look at a record.
//
// To add a format for programs: add one file to export and one line to forms (cli/format.go).
package report
