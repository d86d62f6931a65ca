package format

import (
	"bytes"
	"slices"
	"strings"
)

// shapes looks at files without a single word of their tool in them: logs of
// numbers, CSV, JSON.
type shapes struct {
	lines  int // not empty
	first  string
	counts map[Kind]int
	json   []byte // the beginning of a JSON document
}

// maxJSON is how much of a document decides what it is.
const maxJSON = 4096

func (s *shapes) look(line []byte) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	if s.lines++; s.lines == 1 {
		s.first = clip(line)
		s.counts = map[Kind]int{}
	}
	if s.json != nil || s.lines == 1 && (line[0] == '{' || line[0] == '[') {
		if len(s.json) < maxJSON {
			s.json = append(append(s.json, line...), '\n')
		}
		return
	}
	if k := numbers(line); k != Unknown {
		s.counts[k]++
	}
	if RedisRow(line) {
		s.counts[RedisLog]++
	}
	if s.lines == 1 && header(line) {
		s.counts[CSV]++
	}
}

// header says whether a line looks like the column names of a table.
func header(line []byte) bool {
	for _, sep := range []string{",", ";", "\t"} {
		fields := strings.Split(string(line), sep)
		if len(fields) < 2 {
			continue
		}
		names := 0
		for _, f := range fields {
			f = strings.Trim(strings.TrimSpace(f), `"`)
			if f != "" && !Whole([]byte(f)).Known() {
				names++
			}
		}
		return names == len(fields)
	}
	return false
}

// numbers tells logs apart that consist of numbers.
func numbers(line []byte) Kind {
	if line[0]-'0' > 9 {
		return Unknown
	}
	if bytes.IndexByte(line, ',') > 0 {
		return commaNumbers(line)
	}
	fields := bytes.Fields(line)
	if len(fields) < 6 || len(fields) > 17 {
		return Unknown
	}
	for i, f := range fields {
		if !Whole(f).Known() && i != 2 {
			return Unknown
		}
	}
	epoch := func(f []byte) bool { x, ok := Whole(f).Get(); return ok && x >= 1e9 && x < 1e10 }
	switch {
	case epoch(fields[4]) && len(fields) <= 8:
		return PgBenchLog
	case epoch(fields[0]):
		return PgBenchAgg
	}
	return Unknown
}

// commaNumbers tells fio's logs (time, value, direction, size ...) from the
// ten numbers of sysbench.report_csv.
func commaNumbers(line []byte) Kind {
	fields := bytes.Split(line, []byte(","))
	for _, f := range fields {
		f = bytes.TrimSpace(f)
		if !Whole(f).Known() && !bytes.HasPrefix(f, []byte("0x")) {
			return Unknown
		}
	}
	switch {
	case len(fields) == 10 && bytes.Count(line, []byte(".")) == 8:
		return SysbenchLog
	case len(fields) >= 3 && len(fields) <= 7 && direction(fields[2]):
		return FioLog
	}
	return Unknown
}

func direction(b []byte) bool {
	b = bytes.TrimSpace(b)
	return len(b) == 1 && b[0] >= '0' && b[0] <= '3'
}

func (s *shapes) found(name string) Found {
	if s.json != nil {
		return s.ofJSON()
	}
	f := Found{Why: s.first}
	switch c := s.counts; {
	case c[FioLog] > 0 && c[FioLog] == s.lines:
		f.Kind, f.Confidence = FioLog, Guess
		if logName(name) {
			f.Confidence = Likely
		}
	case c[PgBenchLog] > 0:
		f.Kind, f.Confidence = PgBenchLog, Likely
	case c[PgBenchAgg] > 0:
		f.Kind, f.Confidence = PgBenchAgg, Likely
	case c[SysbenchLog] > 0:
		f.Kind, f.Confidence, f.Era = SysbenchLog, Likely, "1.0.14 or later"
	case c[RedisLog] > 0 && c[RedisLog] == s.lines:
		f.Kind, f.Confidence, f.Era = RedisLog, Likely, "before 6.2"
	case c[CSV] > 0:
		f.Kind, f.Confidence = CSV, Guess
	default:
		return Found{}
	}
	return f
}

// ofJSON knows a document by its keys.
func (s *shapes) ofJSON() Found {
	for _, t := range tools {
		for _, keys := range t.keys {
			if !slices.ContainsFunc(keys, func(k string) bool { return !has(s.json, `"`+k+`"`) }) {
				return Found{Kind: t.kind, Confidence: Certain, Era: t.era(s.json), Why: "the JSON keys of " + string(t.tool)}
			}
		}
	}
	return Found{}
}

func (s *shapes) why() string {
	switch {
	case s.lines == 0:
		return "there is no text in it"
	case s.json != nil:
		return "JSON, but none of the keys of a tool that is known"
	}
	return "no line that a known tool writes; it begins with: " + s.first
}
