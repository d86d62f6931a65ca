package importer

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// noWords are words in which reports of the same thing may differ: words that count reports, and words of
// every sentence. Dates, times and hosts are recognised by their shape.
var noWords = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(`
		a an the of is are was were be been here this that these those my our your i we it its and then now also in on at for to as from by
		again another more next last previous following below above same new
		run runs ran running rerun test tests tested testing result results output outputs report reports log logs benchmark benchmarks bench
		iteration iterations attempt try trial round pass repeat repeated repetition sample take time times no nr number
		first second third fourth fifth sixth seventh eighth ninth tenth final initial one two three four five six seven eight nine ten once twice
		1st 2nd 3rd date host hostname node utc gmt cet cest est edt pst pdt cst jst ist msk am pm
		lauf durchlauf läufe messung ergebnis ergebnisse erster zweiter dritter erste zweite dritte der die das und
		essai passe résultat résultats première premier deuxième troisième le la les un une
		prueba ejecución resultado resultados primera segunda tercera el los
		прогон запуск тест результат результаты первый второй третий
		次 回 轮 遍 测试 結果 结果 运行 測試 再 测试结果 実行 회 차 결과`) {
		set[w] = true
	}
	for _, w := range strings.Fields("monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december sept") {
		set[w], set[w[:3]] = true, true
	}
	return set
}()

var (
	// counted matches the number of a run: run1, run-02, test#3, 第2次, 3回目, #4.
	counted = lazily(`^(?:(?:run|test|iter|iteration|attempt|trial|round|pass|try|rep|repeat|sample|take|bench|benchmark|result|output|report|log|lauf|r|t)[-_#.]?\d+|#\d+|\d+(?:st|nd|rd|th)|第?[一二三四五六七八九十\d]+(?:次|回目?|轮|遍)\S{0,4}|\d+(?:회|차)\S?)$`)
	clock   = lazily(`^(?:\d{4}[-/.]\d\d?[-/.]\d\d?(?:t[\d:.,]+(?:z|[+-]\d\d:?\d\d)?)?|\d\d?[-/.]\d\d?[-/.]\d{2,4}|\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?(?:z|am|pm)?|[+-]\d{4}|(?:19|20)\d\d|\d+m\d+(?:\.\d+)?s|\d{10,}|\d{8}[-_t]?\d{4,6})$`)
	machine = lazily(`^(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|[\w.-]+@[\w.:~/-]+|(?:[a-z][\w-]*\.)+(?:com|net|org|io|local|internal|localdomain|example|lan|home|cloud|dev|de|cn|ru|fr|jp|uk|eu)|(?:host|node|worker|server|machine|vm|ip|master)[-_]?\d[\w-]*|localhost)$`)
	plain   = regexp.MustCompile(`^[(#]?\d+(?:/\d+)?[.):]?$`)
	tag     = regexp.MustCompile(`</?[a-zA-Z][^<>]{0,80}>`)
)

// lazily compiles an expression when it is first used: tare's binary is started many times in each launch.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// wordsOf returns the words of a line that are the same in all repeats of a report, in lower case.
func wordsOf(line string) (out []string) {
	line = tag.ReplaceAllString(line, " ")
	split := func(r rune) bool { return strings.ContainsRune(" \t,;()[]{}\"'`!?*|<>~&。，：；（）、", r) }
	raw := strings.FieldsFunc(strings.ToLower(line), split)
	for i, w := range raw {
		counter := plain.MatchString(w) && (i == 0 || dropped(raw[i-1]) || i+1 < len(raw) && (raw[i+1] == "of" || raw[i+1] == "/")) && (i+1 == len(raw) || dropped(raw[i+1]))
		counter = counter || plain.MatchString(w) && i > 0 && (noWords[strings.Trim(raw[i-1], ".:#=-_")] && !slices.Contains([]string{"in", "on", "at", "with", "for", "to", "of", "and", "a", "the"}, raw[i-1]))
		if w = strings.Trim(w, ".:#=-_/"); w != "" && !counter && !dropped(w) {
			out = append(out, w)
		}
	}
	return out
}

// dropped reports that a word may differ between repeats.
func dropped(w string) bool {
	w = strings.Trim(w, ".:#=-_/")
	return w == "" || noWords[w] || counted().MatchString(w) || clock().MatchString(w) || machine().MatchString(w)
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
	return regexp.MustCompile(`(?:^|[\s/])(` + strings.Join(names, "|") + `)(?:\s|$)`)
})

// prompt matches the prompt of a shell.
var prompt = lazily("^(?:[`*\\s]*)(?:\\[[^\\]]*\\][$#>]|[\\w.-]+@[^\\s$#]*[$#]|[\\w~/.-]*[$#%>]|\\$)\\s*")

// connection matches options for the address of a server, the login, seeds and output.
var connection = lazily(`^(?:-[hpaUu]|--?(?:host|port|user|password|pass|socket|(?:mysql|pgsql|redis)-(?:host|port|user|password|socket)|(?:rand-?)?seed|random-seed|output|username))$`)

// commandOf returns the words of a command line of a tool; an option and its value are one word. nil for
// other lines.
func commandOf(line string) (out []string) {
	line = strings.Trim(tag.ReplaceAllString(line, " "), " \t`*")
	at := program().FindStringSubmatchIndex(line)
	if at == nil || !strings.Contains(line[at[1]:], "-") && !prompt().MatchString(line) {
		return nil
	}
	before := strings.Fields(prompt().ReplaceAllString(line[:at[2]], ""))
	if n := len(before); n > 0 && strings.HasSuffix(before[n-1], "/") && line[at[2]-1] == '/' {
		before = before[:n-1] // the directory of the program
	}
	if len(before) > 0 && !strings.HasPrefix(before[0], "-") && !command().MatchString(before[0]) {
		return nil // a sentence about it
	}
	words := append(before, line[at[2]:at[3]])
	rest := strings.Fields(strings.TrimRight(line[at[3]:], "`"))
	for i := 0; i < len(rest); i++ {
		w := rest[i]
		if !strings.HasPrefix(w, "-") {
			words = append(words, w)
			continue
		}
		name, value, _ := strings.Cut(w, "=")
		if value == "" && i+1 < len(rest) && !strings.HasPrefix(rest[i+1], "-") {
			i++
			w += " " + rest[i]
		}
		if !connection().MatchString(name) {
			words = append(words, w)
		}
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "sudo" || w == "time" })
}

// command matches a program that runs another one, or a variable before a command.
var command = lazily(`^(?:sudo|time|env|docker|podman|kubectl|nerdctl|ctr|crictl|oc|exec|numactl|taskset|chrt|nice|ionice|nohup|ssh|lxc|incus|unshare|nsenter|systemd-run|runc|bash|sh|for|do|while|watch|timeout|stdbuf|perf|strace|\w+=\S*|[./][\w./-]*)$`)
