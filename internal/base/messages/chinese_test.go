package messages

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestChineseHasEveryMessage: the two files have the same keys, and each message the same values and tones.
func TestChineseHasEveryMessage(t *testing.T) {
	zh := chinese()
	for key, text := range english().texts {
		to, ok := zh.texts[key]
		if !ok {
			t.Errorf("chinese.txt has no %s", key)
			continue
		}
		if want, got := valuesOf(text), valuesOf(to); !slices.Equal(want, got) {
			t.Errorf("%s has the values %q in English and %q in Chinese", key, want, got)
		}
		if want, got := tonesOf(text), tonesOf(to); !slices.Equal(want, got) {
			t.Errorf("%s has the tones %q in English and %q in Chinese", key, want, got)
		}
		if strings.ContainsAny(to, ":|") && strings.Contains(to, "{n:") {
			t.Errorf("%s: Chinese has no plural: %q", key, to)
		}
	}
	for key := range zh.texts {
		if _, ok := english().texts[key]; !ok {
			t.Errorf("english.txt has no %s", key)
		}
	}
}

// valuesOf are the names of the values in a message; choices between words are none.
func valuesOf(text string) (names []string) {
	for _, p := range split(text, "{<>", nil) {
		if p.Name != "" {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}

func tonesOf(text string) (tones []string) {
	for _, m := range regexp.MustCompile(`<(\w+)\|`).FindAllStringSubmatch(text, -1) {
		tones = append(tones, m[1])
	}
	slices.Sort(tones)
	return tones
}

// TestPatterns: every file of patterns can be read, no sentence has two translations, both sides have the same
// placeholders, and the translation is Chinese.
func TestPatterns(t *testing.T) {
	names, err := chineseFiles.ReadDir(".")
	if err != nil || len(names) == 0 {
		t.Fatal(len(names), err)
	}
	said := map[string]string{}
	for _, name := range names {
		b, _ := chineseFiles.ReadFile(name.Name())
		all, err := parsePatterns(string(b))
		if err != nil {
			t.Errorf("%s: %v", name.Name(), err)
		}
		for _, p := range all {
			from := strings.Join(p.literals, "{}")
			if to, twice := said[from]; twice && to != p.to {
				t.Errorf("%q is %q and %q", from, to, p.to)
			}
			said[from] = p.to
			_, used := opened(p.to)
			if want, got := values(p.names), values(used); !slices.Equal(want, got) {
				t.Errorf("%q has %q and its translation %q", from, want, got)
			}
			if p.weight() == 0 {
				t.Errorf("%q matches everything", from)
			}
		}
	}
	if len(said) < 10 {
		t.Errorf("%d patterns", len(said))
	}
}

// TestStatic: a text without values has no placeholder, and its translation is Chinese; English has none.
func TestStatic(t *testing.T) {
	for from, to := range chinese().static {
		if strings.ContainsAny(from+to, "{}") || to == from || strings.ContainsFunc(from, han) {
			t.Errorf("%q = %q", from, to)
		}
		if english().Static(from) != from {
			t.Errorf("%q is not English", from)
		}
	}
	if got := chinese().Static("not there"); got != "not there" {
		t.Error(got)
	}
	for _, file := range []string{"a = 一\na = 二\n", "no sign"} {
		if _, err := parseStatic(file); err == nil {
			t.Errorf("%q was read", file)
		}
	}
}

// TestValues: a value may be a message or a list of names, also in Chinese, and a message keeps its tones.
func TestValues(t *testing.T) {
	m := Say("change.client", "where", Say("change.node", "node", "a"))
	if en, zh := english().Say(m), chinese().Say(m); en != "the client of its server, on node a" || zh != "其服务器的客户端，在节点 a 上" {
		t.Errorf("%q, %q", en, zh)
	}
	if en, zh := english().Text("p99.has", "list", []string{"a", "b"}), chinese().Text("p99.has", "list", []string{"a", "b"}); en != "a window has/needs: a, b" || zh != "每个窗口现有/需要：a、b" {
		t.Errorf("%q, %q", en, zh)
	}
	if got := (Catalog{}).Text("cache.nothing"); got != "nothing to remove" {
		t.Error(got)
	}
	want := []Piece{{Text: "结果在", Tone: "faint"}, {Text: " r"}, {Text: "，图表在", Tone: "faint"}, {Text: " p"}}
	if got := chinese().Toned("result.charts", "dir", "r", "page", "p"); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

// values are the placeholders of a pattern; {was} catches "was" or "were", which Chinese does not have.
func values(names []string) []string {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "was" })
	slices.Sort(names)
	return names
}

func TestSentence(t *testing.T) {
	zh := chinese()
	for english, want := range map[string]string{
		"":            "",
		"no sentence": "no sentence",
		// Parts, with the patterns of the parts.
		"rpc: load ended; run as root": "rpc：负载结束；以 root 运行",
		"No X. run as root.":           "No X。以 root 运行。",
		"load ended (run as root)":     "负载结束（以 root 运行）",
		// What a placeholder catches is translated if it has words.
		"no control groups: this kernel has no io.stat": "没有 cgroup：本内核没有 io.stat",
		// A pattern catches no parts of two sentences.
		"missing: a; load ended": "缺少：a；负载结束",
		// An error stays in English as a whole; a sentence may quote one.
		"rpc: the server refuses the user and password of the data set: run as root": "rpc: the server refuses the user and password of the data set: run as root",
		"run as root; the server refuses the user":                                   "run as root; the server refuses the user",
		"no control groups: they cannot be made here":                                "没有 cgroup：they cannot be made here",
		// A name is none: an arm may have the name of a word.
		"beside alone": "与 alone 混部",
		// {n} is a number, {arm} one word.
		"x days":          "x days",
		"beside the kind": "beside the kind",
		// Lists.
		"in docker, threads=4": "在 docker 中，threads=4",
		// The sign = on both sides.
		"tare run -o DIR, a directory on a file system with more room": "用 tare run -o DIR 指定空间更大的文件系统上的目录",
	} {
		if got := zh.Sentence(english); got != want {
			t.Errorf("%q is %q, want %q", english, got, want)
		}
	}
	if got := english().Sentence("load ended"); got != "load ended" {
		t.Error(got)
	}
}

// TestSentenceIsFast: a text of a tool with many joints and no translation is given up at once.
func TestSentenceOfALog(t *testing.T) {
	log := strings.Repeat("error: disk. x; y: z (a), b and c\n", 200)
	if got := chinese().Sentence(log); strings.ContainsFunc(got, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		t.Errorf("%.200s", got)
	}
}

func TestMeet(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"吞吐量", "p99", "吞吐量 p99"}, {"p99", "的", "p99 的"}, {"29.0 %", "的窗口", "29.0 % 的窗口"}, {"损失 ", "无", "损失无"},
		{"完。", " 下一句", "完。下一句"}, {"（", "a", "（a"}, {"容差", "±1 %", "容差 ±1 %"}, {"a", "b", "ab"}, {"a ", "b", "a b"}, {"", " x", " x"},
	} {
		if got := chinese().Join(c.before, c.after); got != c.want {
			t.Errorf("%q and %q are %q, want %q", c.before, c.after, got, c.want)
		}
	}
	if got := english().Join("a", "字"); got != "a字" {
		t.Errorf("English: %q", got)
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		choice string
		env    map[string]string
		want   Language
	}{
		{"zh", nil, Chinese}, {"en", map[string]string{"LANG": "zh_CN.UTF-8"}, English}, {"auto", nil, English}, {"", map[string]string{"LANG": "zh_CN.UTF-8"}, Chinese},
		{"auto", map[string]string{"LANG": "zh_SG"}, Chinese}, {"auto", map[string]string{"LANG": "zh_TW.UTF-8"}, English},
		{"auto", map[string]string{"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "C"}, English}, {"auto", map[string]string{"LANG": "de_DE", "LC_ALL": "zh_CN.GBK"}, Chinese},
		{"auto", map[string]string{"LANG": "zh-Hans-CN"}, Chinese}, {"wrong", nil, English},
	} {
		if got := Choose(c.choice, func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%q with %v is %s", c.choice, c.env, got)
		}
	}
}

// TestPatternsAreReached: no pattern hides another: the sample of each one has its own translation.
func TestPatternsAreReached(t *testing.T) {
	zh := chinese()
	for _, p := range zh.known.open {
		sample := strings.Join(p.literals, filler)
		want, _ := zh.filled(p, slices.Repeat([]string{filler}, len(p.names)))
		if got := zh.Sentence(sample); got != want {
			t.Errorf("%q is %q, want %q", sample, got, want)
		}
	}
}
