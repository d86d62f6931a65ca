package cli

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/alecthomas/kong"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/host/doctor"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/remedy"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// englishWords are three words in a row that are no command, no name and no value.
var englishWords = regexp.MustCompile(`\b[a-z]{2,}('s)?,? [a-z]{2,},? [a-z]{2,}\b`)

// typed is what somebody types: it is the same in every language.
var typed = regexp.MustCompile(`\b(tare|kubectl) [\x21-\x7e]+( [\x21-\x7e]+)*|\[flags\]|<[^>]+>|\([\x20-\x7e]*\)`)

// Help is in Chinese: no command has a line of English, and no line is wider than the terminal.
func TestHelpIsInChinese(t *testing.T) {
	chinese := messages.In(messages.Chinese)
	var g grammar
	parser, err := newParser(&g, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, path := range append(commandPaths(parser.Model.Node), nil) {
		seen++
		for i, line := range strings.Split(chineseHelp(t, chinese, path), "\n") {
			if found := englishWords.FindString(typed.ReplaceAllString(line, "")); found != "" {
				t.Errorf("tare %s --help, line %d: %q in %s", strings.Join(path, " "), i+1, found, line)
			}
			if report.Width(line) > helpWidth && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("tare %s --help, line %d has %d columns: %s", strings.Join(path, " "), i+1, report.Width(line), line)
			}
		}
	}
	if seen < 15 {
		t.Errorf("only %d commands were found", seen)
	}
	var text bytes.Buffer
	if err := helpKubernetes(parser, &text, chinese, 80); err != nil || englishWords.MatchString(typed.ReplaceAllString(text.String(), "")) {
		t.Errorf("tare help kubernetes: %v\n%s", err, text.String())
	}
}

// commandPaths are the commands below a node that are not hidden.
func commandPaths(n *kong.Node) (all [][]string) {
	for _, c := range n.Children {
		if !c.Hidden {
			all = append(all, strings.Fields(c.Path()))
			all = append(all, commandPaths(c)...)
		}
	}
	return all
}

// chineseHelp is the help of a command, in Chinese.
func chineseHelp(t *testing.T, chinese messages.Catalog, path []string) (text string) {
	t.Helper()
	var out bytes.Buffer
	defer func() {
		if _, ok := recover().(helpExit); !ok {
			t.Errorf("%q printed no help", path)
		}
		text = out.String()
	}()
	var g grammar
	parser, err := newParser(&g, &out, &out, kong.Help(helpIn(chinese, helpWidth)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(append(path, "--help"))
	t.Errorf("%q: %v", path, err)
	return ""
}

// staticTexts are the texts of the commands that have no values, each of which is the key of its translation.
func staticTexts(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{"Flags:": true, "Commands:": true, "Arguments:": true, doctor.Quiet: true, doctor.Shared: true, doctor.Hostile: true}
	add := func(text string) string {
		if text != "" {
			all[text] = true
		}
		return text
	}
	var g grammar
	parser, err := newParser(&g, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	addModel(parser.Model.Node, add)
	block(kubernetesHelp, add)
	for _, q := range questions {
		add(q.title)
	}
	for _, kind := range []string{"read", "write", "trim"} {
		add(metric.IOPS.Of(kind).Label)
		add(metric.Bandwidth.Of(kind).Label)
	}
	for _, x := range purposes {
		add(x.purpose)
	}
	for _, name := range experiment.Presets() {
		e, err := parsePreset(name)
		if err != nil {
			t.Fatal(err)
		}
		add(e.Title)
		for _, program := range programsOf(e) {
			add(program)
		}
	}
	return all
}

// addModel adds the texts of a command and of those below it, as translateModel translates them.
func addModel(n *kong.Node, add func(string) string) {
	block(n.Help, add)
	block(n.Detail, add)
	for _, p := range n.Positional {
		add(p.Help)
	}
	for _, f := range n.Flags {
		if add(f.Help); f.Group != nil {
			add(f.Group.Title)
		}
	}
	for _, m := range exitCodesOf(n) {
		add(m.means)
	}
	for _, c := range n.Children {
		addModel(c, add)
	}
}

// literals are the texts of the program's source.
func literals(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, dir := range []string{"..", "../../record"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err == nil {
				ast.Inspect(file, func(n ast.Node) bool {
					if b, ok := n.(*ast.BasicLit); ok && b.Kind == token.STRING {
						text, _ := strconv.Unquote(b.Value)
						all[text] = true
					}
					return true
				})
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Every static text has its Chinese, and every line of its file is said by a command, or stands in the source as a
// word of records.
func TestStaticTexts(t *testing.T) {
	all, chinese, source := staticTexts(t), messages.In(messages.Chinese), literals(t)
	for text := range all {
		said := typed.ReplaceAllString(text, "")
		if chinese.Static(text) == text && strings.Contains(said, " ") && regexp.MustCompile(`[a-z]{3}`).MatchString(said) {
			t.Errorf("%q has no line in chinese-help.txt", text)
		}
	}
	b, err := os.ReadFile("../base/messages/chinese-help.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		said := false
		for text := range all {
			said = said || strings.HasPrefix(line, text+" = "+chinese.Static(text))
		}
		for text := range source {
			said = said || strings.HasPrefix(line, text+" = "+chinese.Static(text))
		}
		if !said {
			t.Errorf("nothing says %s", line)
		}
	}
	if len(all) < 200 {
		t.Errorf("only %d texts were found", len(all))
	}
}

func TestFold(t *testing.T) {
	for _, c := range []struct {
		line    string
		columns int
		want    string
	}{
		{"一二三四五", 20, "一二三四五"},
		{"一二三四五", 6, "一二三|四五"},
		{"一二三，四五", 6, "一二|三，四|五"},
		{"  -x    一二三四五", 16, "  -x    一二三四|        五"},
		{"用 tare run 测量", 10, "用 tare|run 测量"},
		{"abcdefghijklmnop", 8, "abcdefghijklmnop"},
		{"", 8, ""},
	} {
		if got := strings.Join(fold(c.line, c.columns), "|"); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.line, c.columns, got, c.want)
		}
	}
	if report.PadRight("中文", 6) != "中文  " || report.Width("a中") != 3 {
		t.Error("a wide character takes two columns")
	}
}

// tare presets is in Chinese: questions, titles and what each needs.
func TestPresetsAreInChinese(t *testing.T) {
	chinese := messages.In(messages.Chinese)
	for _, q := range questions {
		if got := chinese.Static(q.title); got == q.title {
			t.Errorf("%q has no translation", got)
		}
	}
	for _, name := range experiment.Presets() {
		e, err := parsePreset(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := chinese.Static(e.Title); got == e.Title || englishWords.MatchString(got) {
			t.Errorf("%s: %q is %q", name, e.Title, got)
		}
		shown := inWords(chinese, e)
		if found := englishWords.FindString(typed.ReplaceAllString(shown, "")); found != "" || !strings.HasPrefix(shown, "# "+name+"：") {
			t.Errorf("tare presets show %s has %q in\n%s", name, found, shown)
		}
	}
}

// Labels of records, of the doctor and of remedies are in Chinese, those of one word too.
func TestLabelsAreInChinese(t *testing.T) {
	var all []string
	for _, f := range (record.Host{Helper: &record.Helper{}}).Facts() {
		name, _ := f.Name.Value("name").(string)
		all = append(all, name)
	}
	for _, r := range remedy.All() {
		all = append(all, r.Does)
	}
	for _, c := range doctor.Checks(doctor.Patient{Root: "/", Scratch: t.TempDir()}) {
		all = append(all, c.Title)
	}
	chinese := messages.In(messages.Chinese)
	for _, label := range all {
		if !strings.ContainsFunc(chinese.Static(label), func(r rune) bool { return unicode.Is(unicode.Han, r) }) && !slices.Contains([]string{"kubelet", "root", "freezer", "swap", "cpu.qos_level", "control groups"}, label) {
			t.Errorf("%q is %q in Chinese", label, chinese.Static(label))
		}
	}
	if len(all) < 50 {
		t.Errorf("%d labels", len(all))
	}
}
