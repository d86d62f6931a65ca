package importer

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

var (
	tag = lazily(`</?[a-zA-Z][^<>]{0,80}>`)
	// moment matches a line with a date or a time of day, which is no heading.
	moment = lazily(`\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?:\d\d|\d\d?[-/.]\d\d?[-/.]\d{4}`)
	// counted matches the number of a run in a heading: "run 2", "Test #3", "benchmark1", "iteration 2 of 5", "2.", "(3)",
	// "第2次测试", "second run".
	counted = lazily(`(?i)(?:^|[\s(:,._-])((?:run|test|iteration|iter|attempt|trial|round|pass|try|rep|repeat|repetition|sample|take|benchmark|bench|result|report|output|log|lauf|durchlauf|запуск|прогон|тест)s?[\s#_.:-]*\d+(?:\s*(?:of|/)\s*\d+)?` +
		`|(?:first|second|third|fourth|fifth|last|final|\d+(?:st|nd|rd|th))\s+(?:run|test|attempt|trial|round|pass|try|time|iteration)|第[一二三四五六七八九十\d]+[次回轮遍]\S*|\d+(?:回目|回|次|轮|회|차)\S*)(?:$|[\s):,.=-])`)
	onlyNumber = lazily(`^[\s#(=*_-]*\d+(?:\s*/\s*\d+)?[\s.):=*_-]*$`)
)

// lazily compiles an expression when it is first used: tare's binary is started many times in each launch.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// unnumbered removes the number of a run from a heading and returns both.
func unnumbered(text string) (heading, number string) {
	if onlyNumber().MatchString(text) {
		return "", strings.Trim(text, " #()=*_.:-")
	}
	m := counted().FindStringSubmatchIndex(text)
	if m == nil {
		return text, ""
	}
	return strings.TrimSpace(text[:m[2]] + " " + text[m[3]:]), text[m[2]:m[3]]
}

// program matches the program of a tool with a reader, at the beginning of a command or behind another
// program that runs it.
var program = sync.OnceValue(func() *regexp.Regexp {
	var names []string
	for _, r := range readers {
		for _, p := range r.Programs {
			names = append(names, regexp.QuoteMeta(p))
		}
	}
	return regexp.MustCompile("^[`*\\s]*(?:\\[[^\\]]*\\][$#>]|[\\w.-]+@[^\\s$#]*[$#]|[\\w~/.-]*[$#%>]|\\$)?\\s*(?:[\\w./=-]+\\s+)*?((?:\\S*/)?(?:" + strings.Join(names, "|") + ")(?:\\s.*)?)$")
})

// commandOf returns the command line of a tool without the prompt before it; empty for other lines.
func commandOf(line string) string {
	line = strings.Trim(tag().ReplaceAllString(line, " "), " \t`*")
	m := program().FindStringSubmatchIndex(line)
	if m == nil || !strings.Contains(line[m[2]:], " -") && !strings.ContainsAny(line[:m[2]], "$#>%") {
		return ""
	}
	if i := strings.IndexAny(line[:m[2]], "$#>%"); i >= 0 {
		return strings.TrimSpace(line[i+1:])
	}
	return line
}

// optionsOf splits a command into words; an option and its value are one word. Options for the address of a server
// and the login are left out.
func optionsOf(command string) (out []string) {
	rest := strings.Fields(command)
	for i := 0; i < len(rest); i++ {
		w := rest[i]
		if !strings.HasPrefix(w, "-") {
			out = append(out, w)
			continue
		}
		name, value, _ := strings.Cut(w, "=")
		if value == "" && i+1 < len(rest) && !strings.HasPrefix(rest[i+1], "-") {
			i++
			w += " " + rest[i]
		}
		if !slices.Contains(addresses, strings.TrimLeft(name, "-")) {
			out = append(out, w)
		}
	}
	return out
}

// addresses are options for the address of a server and the login.
var addresses = []string{"h", "p", "a", "U", "u", "host", "port", "user", "password", "socket", "mysql-host", "mysql-port", "mysql-user", "mysql-password",
	"mysql-socket", "pgsql-host", "pgsql-port", "pgsql-user", "pgsql-password"}
