package schemas

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
)

// Root is a kind of file or output with its type.
type Root struct {
	Title, Intro string
	Type         reflect.Type
}

// page writes the tables of types, each type once.
type page struct {
	m       *Maker
	out     strings.Builder
	waiting []reflect.Type          // their tables come below that of the root
	labels  map[reflect.Type]string // headings
}

// Tables has a section for each root, with a table of its fields and below it the tables of the types that it needs and
// that no section before has.
func (m *Maker) Tables(roots []Root) (string, error) {
	p := &page{m: m, labels: map[reflect.Type]string{}}
	for _, r := range roots {
		p.labels[r.Type] = r.Title
	}
	for _, r := range roots {
		fmt.Fprintf(&p.out, "\n## %s\n\n%s\n\n", r.Title, r.Intro)
		p.table(r.Type)
		for len(p.waiting) > 0 {
			next := p.waiting[0]
			p.waiting = p.waiting[1:]
			p.section(next)
		}
	}
	return p.out.String(), m.err()
}

func (p *page) section(t reflect.Type) {
	fmt.Fprintf(&p.out, "\n### %s\n\n", p.labels[t])
	if text := p.m.source.describe(t, "", false); text != "" {
		if rest, ok := strings.CutPrefix(text, t.Name()); ok { // a name of Go's may begin with a small letter
			text = p.labels[t] + rest
		}
		fmt.Fprintf(&p.out, "%s\n\n", text)
	}
	if values := p.m.source.values(t); values != "" {
		fmt.Fprintf(&p.out, "One of %s.\n", values)
		return
	}
	p.table(t)
}

// table has a row for each field. Neighbours of the same type that one comment describes share a row.
func (p *page) table(t reflect.Type) {
	p.out.WriteString("| field | type | is |\n|---|---|---|\n")
	type row struct{ names, kind, is string }
	var rows []row
	above := ""
	for _, f := range p.m.Fields(t) {
		kind := p.kind(f.Type)
		switch {
		case f.Optional:
			kind += ", optional"
		case f.Type.Kind() == reflect.Pointer:
			kind += " or null"
		}
		if last := len(rows) - 1; last >= 0 && rows[last].kind == kind && above == f.Is {
			rows[last].names += " `" + f.Name + "`"
			continue
		}
		is := f.Is
		if is == above {
			is = "see the row above"
		}
		rows, above = append(rows, row{"`" + f.Name + "`", kind, is}), f.Is
	}
	for _, r := range rows {
		fmt.Fprintf(&p.out, "| %s | %s | %s |\n", r.names, r.kind, strings.ReplaceAll(r.is, "|", `\|`))
	}
}

// kind is a type in words, with a link to its table.
func (p *page) kind(t reflect.Type) string {
	if own, ok := p.m.Own[t]; ok {
		return fmt.Sprint(own["title"])
	}
	if t == timeType {
		return "time"
	}
	if t.Kind() == reflect.Struct || len(p.m.source.constantsOf(t)) > 0 {
		return p.link(t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return p.kind(t.Elem())
	case reflect.Slice:
		return "list of " + p.kind(t.Elem())
	case reflect.Map:
		return "by name: " + p.kind(t.Elem())
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "number"
	}
	return "whole number"
}

// link is a link to the table of a type, which is written later.
func (p *page) link(t reflect.Type) string {
	label, known := p.labels[t]
	if !known {
		label = p.label(t)
		p.labels[t] = label
		p.waiting = append(p.waiting, t)
	}
	return "[" + label + "](#" + anchor(label) + ")"
}

// label is the name of a type as a heading. Two types with one heading are a problem.
func (p *page) label(t reflect.Type) string {
	name := []rune(t.Name())
	name[0] = unicode.ToUpper(name[0])
	label := string(name)
	for other, used := range p.labels {
		if strings.EqualFold(used, label) {
			p.m.problems = append(p.m.problems, fmt.Sprintf("%v and %v have the same heading", other, t))
		}
	}
	return label
}

// anchor is the address of a heading in a page on GitHub.
func anchor(heading string) string {
	letters := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune("-_", r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
	return letters
}
