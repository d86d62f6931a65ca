package said

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/record"
)

// calls are what the program says: by code the names of the values that each call gives.
type calls struct {
	given    map[string][][]string
	literals map[string]bool // every string literal
}

// saidBy reads every Go file of the program.
func saidBy(t *testing.T) calls {
	t.Helper()
	c := calls{map[string][][]string{}, map[string]bool{}}
	for _, dir := range []string{"../../../internal", "../../../record", "../../../cmd"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err == nil {
				ast.Inspect(file, c.visit)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func (c calls) visit(n ast.Node) bool {
	if text, ok := literal(n); ok {
		c.literals[text] = true
	}
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || !says(call.Fun) {
		return true
	}
	if code, ok := literal(call.Args[0]); ok {
		var names []string
		for i := 1; i < len(call.Args); i += 2 {
			name, _ := literal(call.Args[i])
			names = append(names, name)
		}
		c.given[code] = append(c.given[code], names)
	}
	return true
}

// says reports whether a function is record.Say.
func says(fun ast.Expr) bool {
	f, ok := fun.(*ast.SelectorExpr)
	if !ok {
		own, ok := fun.(*ast.Ident)
		return ok && own.Name == "Say" // in package record
	}
	of, ok := f.X.(*ast.Ident)
	return ok && of.Name == "record" && f.Sel.Name == "Say"
}

func literal(n ast.Node) (string, bool) {
	b, ok := n.(*ast.BasicLit)
	if !ok || b.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(b.Value)
	return text, err == nil
}

// valuesOf are the names of the values in a sentence, with those that choose a word.
func valuesOf(text string) (names []string) {
	for _, part := range strings.Split(text, "{")[1:] {
		inner, _, _ := strings.Cut(part, "}")
		name, _, _ := strings.Cut(inner, ":")
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Every code that the program says has a sentence in each language with the same values, each call gives them, and no
// sentence is of a code that nothing says.
func TestCodes(t *testing.T) {
	program := saidBy(t)
	english, chinese := maps.Collect(messages.In(messages.English).Codes()), maps.Collect(messages.In(messages.Chinese).Codes())
	for code, calls := range program.given {
		text, ok := english[messages.Key(code)]
		if !ok && code != record.Prose {
			t.Errorf("%s has no sentence", code)
		}
		for _, given := range calls {
			for _, name := range valuesOf(text) {
				if !slices.Contains(given, name) {
					t.Errorf("%s is said with %q, its sentence has {%s}", code, given, name)
				}
			}
		}
	}
	for code, text := range english {
		if !program.literals[string(code)] {
			t.Errorf("nothing says %s", code)
		}
		to, ok := chinese[code]
		if want, got := valuesOf(text), valuesOf(to); !ok || !slices.Equal(want, got) {
			t.Errorf("%s has the values %q in English and %q in Chinese", code, want, got)
		}
		if strings.Contains(to, "|") && !strings.Contains(to, "=") {
			t.Errorf("%s: Chinese has no plural: %q", code, to)
		}
	}
	if len(english) < 150 || len(english) != len(chinese) {
		t.Errorf("%d sentences in English, %d in Chinese", len(english), len(chinese))
	}
}

// Formats that a sentence names are known: a number is never printed by a format of fmt that is none.
func TestFormats(t *testing.T) {
	for _, l := range []messages.Language{messages.English, messages.Chinese} {
		c := messages.In(l)
		for code := range c.Codes() {
			for _, p := range c.OfCode(string(code)) {
				if p.Name == "" || slices.Contains([]string{"text", "list", "and", "clauses", "commas", "quoted", "phrase", "interval", "percent"}, p.Format) {
					continue // not of numbers
				}
				for _, x := range []any{2.5, nil} {
					if got := formatted(c, p.Format, x); got == "" || strings.Contains(got, "%!") {
						t.Errorf("%s: {%s:%s} of %v is %q", code, p.Name, p.Format, x, got)
					}
				}
			}
		}
	}
}

func TestText(t *testing.T) {
	chinese := messages.In(messages.Chinese)
	for _, c := range []struct {
		said        record.Said
		english, to string
	}{
		{record.Said{}, "", ""},
		{record.Say("few_launches", "needed", 4, "made", 1), "a verdict needs 4 launches, 1 was made", "得出结论需要 4 次启动，只做了 1 次"},
		{record.Say("few_launches", "needed", 4, "made", 3), "a verdict needs 4 launches, 3 were made", "得出结论需要 4 次启动，只做了 3 次"},
		{record.Say("odd_launches", "odd", 2, "launches", 8, "arm", "nat", "by", 0.123, "way", "slower"), "2 of 8 launches of nat were 12 % slower", "nat 的 8 次启动中有 2 次变慢 12 %"},
		{record.Say("too_wide", "half", 0.0123), "±1.2 % is too wide", "±1.2 % 太宽"},
		{record.Say("no_cpu_time", "why", record.Say("of_arm", "arm", "nat", "why", record.Say("no_window"))),
			"no CPU time: nat: no window of this arm counts", "没有 CPU 时间：nat：这个测试组没有一个窗口有效"},
		{record.Say("arms_of_old", "arms", []string{"a", "b", "c"}), "arms of the old result alone, in no row: a, b, c", "仅旧结果有、不在任何一行中的测试组：a、b 和 c"},
		{record.Say("settled_soon", "discard", 0.0125), "windows opened 12.5 ms after a pause, in which what the limit granted had piled up: its loss is too small",
			"窗口在暂停之后 12.5 ms 就打开，暂停期间限额的份额已经积攒下来：测得的损失偏小"},
		{record.Say("leave_discard_out", "needed", 0.2), "leave discard: out of the experiment, or make it 200ms", "去掉实验文件中的 discard:，或设为 200ms"},
		{record.Say(record.TitleSettings, "settings", []record.Said{record.Say("arm_in", "environment", "docker"), record.Say("set_memory", "memory", 1<<29)}),
			"in docker, memory 512 MiB", "在 docker 中，内存 512 MiB"},
		{record.Say("set_memory", "memory", 1536<<20), "memory 1536 MiB", "内存 1536 MiB"},
		{record.InProse("load ended"), "load ended", "负载结束"},
		{record.Say("of_a_newer_tare", "n", 3), `of_a_newer_tare "n":3`, `of_a_newer_tare "n":3`},
	} {
		if got := English(c.said); got != c.english {
			t.Errorf("%v is %q, want %q", c.said, got, c.english)
		}
		if got := Text(chinese, c.said); got != c.to {
			t.Errorf("%v is %q, want %q", c.said, got, c.to)
		}
	}
}

// Values that a user typed keep their words: only a phrase is translated. Amounts of CPUs have the digits that they need.
func TestPhrasesAndAmounts(t *testing.T) {
	chinese := messages.In(messages.Chinese)
	said := record.Say("setting_differs", "setting", "kind of I/O", "own", "read", "baseline", "host", "other", "an option without a value")
	if got := Text(chinese, said); !strings.Contains(got, "read") || strings.Contains(got, "an option") {
		t.Error(got)
	}
	for x, want := range map[float64]string{1: "up to 1 CPU of others", 3: "up to 3 CPUs of others", 0.125: "up to 0.125 CPUs of others"} {
		if got := English(record.Say("gives_up_to_of_others", "cpus", x)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
