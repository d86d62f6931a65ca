package report

import (
	"strings"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// Language makes reports in one language.
type Language struct{ catalog messages.Catalog }

// In returns the reports in the language of a catalogue.
func In(c messages.Catalog) Language { return Language{c} }

// said is the sentence of a code.
func (in Language) said(s record.Said) string { return said.Text(in.catalog, s) }

// saidAll are the sentences of several codes.
func (in Language) saidAll(all []record.Said) (out []string) {
	for _, s := range all {
		out = append(out, in.said(s))
	}
	return out
}

// clause is the sentence of a code without a full stop: it stands in another one.
func (in Language) clause(s record.Said) string { return strings.TrimRight(in.said(s), ".。") }

// static is a label or a word without values.
func (in Language) static(english string) string { return in.catalog.Static(english) }

// staticAll are several of them.
func (in Language) staticAll(english []string) (out []string) {
	for _, s := range english {
		out = append(out, in.static(s))
	}
	return out
}

// phrase is a value or a name of a setting: one word is the same in every language.
func (in Language) phrase(english string) string { return said.Phrase(in.catalog, english) }

// about prints a forecast of seconds.
func (in Language) about(seconds float64) string { return quantity.AboutIn(in.catalog, seconds) }

// commas joins facts that belong to one subject: "a, b, c".
func (in Language) commas(parts ...string) string { return in.joinAll("join.comma", parts) }

// semicolons joins clauses.
func (in Language) semicolons(parts ...string) string { return in.joinAll("join.semicolon", parts) }

// names joins names without a word before the last one.
func (in Language) names(all []string) string { return in.joinAll("join.names", all) }

// joinAll joins texts in pairs; empty ones are left out.
func (in Language) joinAll(key messages.Key, parts []string) string {
	return in.catalog.JoinAll(key, parts...)
}

// colon puts what is said behind its subject: "a: b".
func (in Language) colon(subject, what string) string {
	return in.text("join.colon", "subject", subject, "what", what)
}

// mark is what a message of two parts has between them.
func (in Language) mark(key messages.Key) string {
	return in.text(key, "before", "", "after", "", "subject", "", "what", "")
}

// stop ends a sentence.
func (in Language) stop(s string) sentence { return in.msg("join.stop", "sentence", s) }

// stated is a sentence on subjects, without the full stop that it may already have.
func (in Language) stated(subjects, what string) sentence {
	return in.msg("join.stated", "subjects", subjects, "what", strings.TrimRight(what, "."))
}
