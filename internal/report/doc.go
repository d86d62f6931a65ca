// Package report prints effects for people: text for a terminal, Markdown for a pull request, a
// page. It needs record.Effects alone, so a report can be printed years later from the files.
//
//	chart   the charts of the page, as SVG
//	export  forms for programs
//
// Text and Markdown share one document (document.go and the files that build its sections); a
// renderer decides what fits and how a tone looks.
//
// It may import analysis/answer and analysis/arrange, wire/metric, base and record. It formats and
// selects; it must not compute statistics, read the machine or look at a record.
//
// To add: a form for programs is one file in export and one line in forms (cli/format.go).
package report
