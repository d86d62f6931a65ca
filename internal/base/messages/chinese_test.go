package messages

import (
	"regexp"
	"slices"
	"strings"
	"testing"
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
