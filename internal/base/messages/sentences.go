package messages

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// chineseSentences has the patterns of what a record and a report say.
//
//go:embed chinese-sentences.txt
var chineseSentences string

var chinesePatterns = sync.OnceValue(func() *patterns {
	all, err := parsePatterns(chineseSentences)
	if err != nil {
		panic(fmt.Errorf("chinese-sentences.txt, %w", err)) // the file is part of the program
	}
	p := &patterns{whole: map[string]string{}}
	p.add(all)
	return p
})

// patterns translate English sentences.
type patterns struct {
	whole map[string]string // sentences without a placeholder
	open  []pattern         // those with placeholders, the one with the most literal text first
}

// pattern is a sentence with placeholders and its translation.
type pattern struct {
	literals []string // literals[i] stands before the placeholder names[i]
	names    []string
	to       string
}

// parsePatterns reads lines "English with {x} = translation with {x}". It skips empty lines and lines that
// begin with #. Either side may have the sign = itself: the English ends at the last " = " before
// which there is no Han character.
func parsePatterns(file string) (all []pattern, err error) {
	for i, line := range strings.Split(file, "\n") {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		from, to, ok := translated(line)
		if !ok {
			return nil, fmt.Errorf("line %d: want English = translation, got %q", i+1, line)
		}
		p := pattern{to: to}
		p.literals, p.names = opened(from)
		all = append(all, p)
	}
	return all, nil
}

// opened splits a text at its placeholders.
func opened(text string) (literals, names []string) {
	for {
		before, rest, found := strings.Cut(text, "{")
		literals = append(literals, before)
		if !found {
			return literals, names
		}
		name, after, _ := strings.Cut(rest, "}")
		names = append(names, name)
		text = after
	}
}

func (p *patterns) add(all []pattern) {
	for _, x := range all {
		if len(x.names) == 0 {
			p.whole[x.literals[0]] = x.to
		} else {
			p.open = append(p.open, x)
		}
	}
	slices.SortStableFunc(p.open, func(a, b pattern) int { return cmp.Compare(b.weight(), a.weight()) })
}

// weight is the length of the literal text.
func (p pattern) weight() (n int) {
	for _, l := range p.literals {
		n += len(l)
	}
	return n
}

// match returns what the placeholders catch.
func (p pattern) match(s string) (caught []string, ok bool) {
	first, last := p.literals[0], p.literals[len(p.literals)-1]
	if len(s) < p.weight()+len(p.names) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
		return nil, false
	}
	caught = make([]string, len(p.names))
	return caught, p.fill(caught, 0, s[len(first):])
}

// fill finds texts for the placeholders from the i-th on, the shortest first.
func (p pattern) fill(caught []string, i int, rest string) bool {
	next := p.literals[i+1]
	if i == len(p.names)-1 {
		text, ok := strings.CutSuffix(rest, next)
		caught[i] = text
		return ok && p.fits(i, text)
	}
	for at := 1; at+len(next) <= len(rest); at++ {
		k := strings.Index(rest[at:], next)
		if k < 0 {
			return false
		}
		at += k
		if caught[i] = rest[:at]; p.fits(i, caught[i]) && p.fill(caught, i+1, rest[at+len(next):]) {
			return true
		}
	}
	return false
}

// figure is what a placeholder {n}, {n1} ... may catch.
var figure = regexp.MustCompile(`^[-+±]?(\d[\d.,]*(e[-+]?\d+)?|NaN|Inf)$`)

// sized are placeholders that catch a number with its unit.
var sized = []string{"low", "high"}

var size = regexp.MustCompile(`^[-+±]?\d\S*( \S+)?$`)

// oneWord are placeholders that catch one word only, so that short patterns match no other sentence.
var oneWord = []string{"arm", "environment", "volume", "file", "name", "baseline", "neighbour"}

func (p pattern) fits(i int, text string) bool {
	if slices.Contains(oneWord, p.names[i]) && strings.Contains(text, " ") || slices.Contains(sized, p.names[i]) && !size.MatchString(text) {
		return false
	}
	isNumber := p.names[i][0] == 'n' && strings.Trim(p.names[i][1:], "0123456789") == ""
	return text != "" && (!isNumber || figure.MatchString(text))
}

// prose are placeholders that catch words which are translated even if it is one word. Of the others a text of one
// word is a name.
var prose = []string{"why", "reason", "text", "what", "said", "metric", "kind", "title", "word", "remedy"}

// quoting are placeholders that may catch an error, which stays in English, or a title of the user's.
var quoting = []string{"why", "reason", "text", "said", "remedy", "title"}

// phrase matches words that are no name.
var phrase = regexp.MustCompile(`\b[a-z]{2,}('s)? [a-z]{2,}('s)? [a-z]{2,}\b`)

// typed are placeholders that catch what somebody types, which is the same in every language.
var typed = []string{"command", "path"}

// listed are placeholders that catch a list of names.
var listed = []string{"list", "names", "arms", "loads", "files", "settings", "nodes"}

// Sentence translates an English sentence, for which a pattern must match as a whole. Lists of sentences, and a
// sentence behind a name and a colon, are translated in parts. A sentence without a pattern stays as it is.
func (c Catalog) Sentence(s string) string {
	if c.known == nil {
		return s
	}
	if to, ok := c.static[s]; ok {
		return to
	}
	out, _ := c.translate(s, 0)
	return out
}

// longest is the length from which a text, in bytes, is no sentence but the output of a program.
const longest = 2000

// translate translates a text, or its parts between the joints from an index on. Where no part has a translation it
// returns the text as it is, and false.
func (c Catalog) translate(s string, from int) (string, bool) {
	if to, ok := c.known.whole[s]; ok {
		return to, true
	}
	if to, ok := c.static[s]; ok {
		return to, true
	}
	if strings.IndexFunc(s, unicode.IsLetter) < 0 {
		return s, false
	}
	if len(s) > longest {
		return c.inParts(s, from)
	}
	across := "" // of a pattern that catches parts of several sentences
	for _, p := range c.known.open {
		caught, ok := p.match(s)
		if !ok || across != "" && p.several(caught) {
			continue
		}
		out, ok := c.filled(p, caught)
		switch {
		case !ok:
		case !p.several(caught):
			return out, true
		default:
			across = out
		}
	}
	out, ok := c.inParts(s, from)
	if !ok && across != "" {
		return across, true
	}
	return out, ok
}

// several reports whether a placeholder caught more than one sentence; a command may have what looks like two.
func (p pattern) several(caught []string) bool {
	for i, text := range caught {
		if p.names[i] != "command" && (strings.Contains(text, "\n") || strings.Contains(text, "; ")) {
			return true
		}
	}
	return false
}

// filled is the translation of a pattern with what its placeholders caught; false: one of them caught what it may not.
func (c Catalog) filled(p pattern, caught []string) (string, bool) {
	literals, names := opened(p.to)
	parts := []string{literals[0]}
	for i, name := range names {
		at := slices.Index(p.names, name)
		value, ok := c.value(name, caught[at])
		if !ok {
			return "", false
		}
		parts = append(parts, value, literals[i+1])
	}
	return c.Join(parts...), true
}

// value is what a placeholder caught, in the language; false: English words without a translation, which only a
// placeholder that quotes may catch.
func (c Catalog) value(name, text string) (string, bool) {
	if slices.Contains(typed, name) {
		return text, true
	}
	if slices.Contains(listed, name) {
		return c.listOf(text)
	}
	if !strings.Contains(text, " ") && !slices.Contains(prose, name) {
		return text, true
	}
	out, ok := c.translate(text, 0)
	return out, ok || slices.Contains(quoting, name) || !phrase.MatchString(text)
}

// listOf is a list such as "a, b and c"; false: it has words without a translation.
func (c Catalog) listOf(text string) (string, bool) {
	items := strings.Split(text, ", ")
	last := len(items) - 1
	if before, after, ok := strings.Cut(items[last], " and "); ok {
		items = append(items[:last], before, after)
	}
	for i, item := range items {
		if strings.Contains(item, " ") {
			out, ok := c.translate(item, 0)
			if items[i] = out; !ok && phrase.MatchString(item) {
				return text, false
			}
		}
	}
	if last = len(items) - 1; last == 0 {
		return items[0], true
	}
	return c.Text("list.and", "most", strings.Join(items[:last], "、"), "last", items[last]), true
}

// joints are what separates sentences of a text, and what stands in the place of it; the looser ones first. What an
// apart one separates may be in two languages.
var joints = []struct {
	english, to string
	apart       bool
}{{"\n", "\n", true}, {". ", "。", true}, {"; ", "；", false}, {": ", "：", false}}

// inParts translates a text at its joints.
func (c Catalog) inParts(s string, from int) (string, bool) {
	if text, ok := strings.CutSuffix(s, "."); ok {
		if out, ok := c.translate(text, from); ok {
			return out + "。", true
		}
	}
	for i := from; i < len(joints); i++ {
		if !strings.Contains(s, joints[i].english) {
			continue
		}
		if joints[i].english == ": " {
			return c.chained(s, i)
		}
		parts, known := strings.Split(s, joints[i].english), false
		for k, part := range parts {
			out, ok := c.translate(part, i+1)
			if !ok && !joints[i].apart && phrase.MatchString(part) {
				return s, false
			}
			parts[k], known = out, known || ok
		}
		if !known {
			return s, false
		}
		return strings.Join(parts, joints[i].to), true
	}
	if out, ok := c.enumerated(s); ok {
		return out, true
	}
	before, inner, ok := strings.Cut(s, " (")
	if inner, closed := strings.CutSuffix(inner, ")"); ok && closed {
		if first, ok := c.translate(before, len(joints)); ok {
			second, _ := c.translate(inner, len(joints))
			return first + "（" + second + "）", true
		}
	}
	return s, false
}

// chained is a text "a: b: c". One with words that have no translation is an error, which stays in English as a whole.
func (c Catalog) chained(s string, from int) (string, bool) {
	before, after, _ := strings.Cut(s, joints[from].english)
	first, known := c.translate(before, from)
	rest, ok := c.translate(after, from)
	if !known && !ok || !known && phrase.MatchString(before) || !ok && phrase.MatchString(after) {
		return s, false
	}
	return first + joints[from].to + rest, true
}

// enumerated is a text of parts between commas, such as the title of an arm: each is a name or has a translation. Words
// alone between commas are names.
func (c Catalog) enumerated(s string) (string, bool) {
	parts := strings.Split(s, ", ")
	if strings.Count(s, " ") == len(parts)-1 {
		return s, false
	}
	known := false
	for k, part := range parts {
		out, ok := part, false
		if len(parts) > 1 {
			out, ok = c.translate(part, len(joints))
		}
		if !ok && strings.Contains(part, " ") {
			return s, false
		}
		parts[k], known = out, known || ok
	}
	if !known {
		return s, false
	}
	return strings.Join(parts, "，"), true
}
