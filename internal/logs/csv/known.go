package csv

import (
	_ "embed"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tarelab/tare/internal/base/units"
)

// Known is the list of all known columns, as people read it.
//
//go:embed known.txt
var Known string

// Meanings of known.txt that the code names.
const (
	kindRate      = "throughput"
	kindBandwidth = "bandwidth"
	kindLatency   = "latency"
	kindTime      = "time"
	kindQueries   = "queries"
	wordMean      = "mean"
	wordMedian    = "median"
	wordMin       = "minimum"
	wordMax       = "maximum"
	wordRead      = "read"
	wordWrite     = "write"
	wordNothing   = "without-meaning"
	wordArm       = "arm-of-figure"
	wordBesideArm = "beside-arm"
	roleArm       = "arm"
	roleLoad      = "load"
	roleSetting   = "setting"
	roleRun       = "run"
	roleHost      = "host"
	roleClock     = "report-time"
	roleRemark    = "not-read"
	roleMetric    = "figure-name"
	roleValue     = "figure-value"
	roleUnit      = "figure-unit"
	rowStatistic  = "statistic"
)

// knownNames is the content of known.txt.
type knownNames struct {
	meaning map[string]map[string]bool // by meaning: its names
	words   map[string][]string        // by word of a figure's column: its meanings
	units   map[string]units.Heading   // by unit
	longest int                        // length of the longest word, in runes
}

// figureWords are the meanings of words of a figure's column.
var figureWords = []string{kindRate, kindBandwidth, kindLatency, kindTime, kindQueries, wordMean, wordMedian, wordMin, wordMax, wordRead, wordWrite, wordNothing, wordArm, wordBesideArm}

// known reads known.txt when the first table is read.
var known = sync.OnceValue(func() *knownNames {
	k := &knownNames{meaning: map[string]map[string]bool{}, words: map[string][]string{}, units: map[string]units.Heading{}}
	for line := range strings.Lines(Known) {
		head, list, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		list = wide.Replace(list)
		base, factor, _ := strings.Cut(head, " ")
		if scale, err := strconv.ParseFloat(factor, 64); err == nil {
			for u := range strings.SplitSeq(list, ", ") {
				k.units[u] = units.Heading{Base: base, Scale: scale}
			}
			continue
		}
		k.meaning[head] = map[string]bool{}
		for name := range strings.SplitSeq(list, ", ") {
			k.meaning[head][name] = true
		}
	}
	for _, m := range figureWords {
		for name := range k.meaning[m] {
			k.words[name] = append(k.words[name], m)
			k.longest = max(k.longest, utf8.RuneCountInString(name))
		}
	}
	return k
})

// is reports whether a name has a meaning.
func (k *knownNames) is(meaning, name string) bool { return k.meaning[meaning][name] }

// wide replaces characters that are written in two ways, and signs that mean blanks.
var wide = strings.NewReplacer("（", "(", "）", ")", "【", "[", "】", "]", "：", ":", "，", ",", "％", "%", "／", "/", "μ", "µ", "\u00a0", " ", "\u3000", " ",
	"_", " ", "‐", "-", "–", "-", "−", "-", "“", `"`, "”", `"`)

var (
	perSecond = regexp.MustCompile(`\s*(?:/\s*|\bper\s+)(?:seconds?|secs?|s|秒)(?:$|([\s\)\],;:-]))`)
	blanks    = regexp.MustCompile(`\s+`)
	countOf   = regexp.MustCompile(`^(?:#|number of|num|no\.? of|nr\.? of|count of|n) ?(\S.*)$`)
	countIs   = regexp.MustCompile(`^(.*\S) ?(?:count|number|num|no|#|数量|数)$`)
	// inBrackets matches a remark in brackets at the end of a name.
	inBrackets = regexp.MustCompile(`^(.*\S)\s*[(\[][^()\[\]]*[)\]]$`)
)

// folded returns a heading in one spelling: small letters, one blank between words, "/s" for each second.
func folded(name string) string {
	name = strings.ToLower(wide.Replace(name))
	name = strings.TrimRight(strings.Trim(name, " \"'*`"), ":= ")
	name = perSecond.ReplaceAllString(name, "/s$1")
	return strings.TrimSpace(blanks.ReplaceAllString(name, " "))
}

// roleOf returns what a column says about its rows; empty for other columns.
func roleOf(heading string) string {
	k, name := known(), folded(heading)
	plain := strings.TrimSpace(blanks.ReplaceAllString(strings.NewReplacer("-", " ", ". ", " ").Replace(strings.TrimSuffix(name, ".")), " "))
	for _, n := range []string{name, plain} {
		for _, role := range []string{roleArm, roleLoad, roleSetting, roleRun, roleHost, roleClock, roleRemark, roleMetric, roleValue, roleUnit} {
			if k.is(role, n) {
				return role
			}
		}
	}
	bare := plain
	if m := inBrackets.FindStringSubmatch(plain); m != nil {
		if bare = m[1]; k.is(roleSetting, bare) {
			return roleSetting
		}
		if k.is(roleRemark, bare) {
			return roleRemark
		}
	}
	for _, form := range []*regexp.Regexp{countOf, countIs} {
		if m := form.FindStringSubmatch(bare); m != nil && k.is(roleSetting, m[1]) {
			return roleSetting
		}
	}
	if m := countIs.FindStringSubmatch(bare); m != nil && (k.is(roleRun, m[1]) || k.is(roleRun, strings.TrimSpace(m[1]))) {
		return roleRun
	}
	return ""
}
