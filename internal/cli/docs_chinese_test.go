package cli

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// chineseDocs is the directory of the pages in Chinese. A page has the name of the English one that it translates.
const chineseDocs = "docs/zh/"

// onlyChinese are pages in Chinese that translate no English page.
var onlyChinese = []string{"README.md"}

// A page in Chinese has the commands, words and experiments of the English page, and no others.
func TestChineseDocsSayTheSame(t *testing.T) {
	all, seen := pages(t), 0
	for name, page := range all {
		of, ok := strings.CutPrefix(name, chineseDocs)
		if !ok || slices.Contains(onlyChinese, of) {
			continue
		}
		seen++
		sameFacts(t, name, sameInAll(all["docs/"+of]), sameInAll(page))
		if !strings.Contains(page, "](../"+of+")") {
			t.Errorf("%s has no link to the English page", name)
		}
	}
	if seen < 4 {
		t.Errorf("only %d pages were compared", seen)
	}
	sameFacts(t, "README.zh-CN.md", commandsOnly(all["README.md"]), commandsOnly(all["README.zh-CN.md"]))
	sameFacts(t, "README.zh-CN.md", figures(all["README.md"]), figures(all["README.zh-CN.md"]))
}

// The pages of the two languages lead to each other.
func TestChineseDocsAreFound(t *testing.T) {
	all := pages(t)
	for from, to := range map[string]string{
		"README.md": "README.zh-CN.md", "README.zh-CN.md": "README.md", "docs/README.md": "zh/README.md", "docs/zh/README.md": "../README.md",
	} {
		if !strings.Contains(all[from], "]("+to+")") {
			t.Errorf("%s has no link to %s", from, to)
		}
	}
	for name := range all {
		if page, ok := strings.CutPrefix(name, chineseDocs); ok && page != "README.md" && !strings.Contains(all["docs/zh/README.md"], "]("+page+")") {
			t.Errorf("docs/zh/README.md has no link to %s", page)
		}
	}
}

var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	remark   = regexp.MustCompile(`\s+#.*`)
)

// sameInAll are the words in a page that are the same in every language: code, commands, experiments without title, outputs.
func sameInAll(page string) map[string]bool {
	all := commandsOnly(page)
	for _, m := range fence.FindAllStringSubmatch(page, -1) {
		for _, line := range strings.Split(m[2], "\n") {
			if !strings.HasPrefix(line, "title:") {
				all[line] = true
			}
		}
	}
	for _, m := range codeSpan.FindAllStringSubmatch(strings.ReplaceAll(fence.ReplaceAllString(page, ""), "\n", " "), -1) {
		all["`"+m[1]+"`"] = true
	}
	return all
}

// commandsOnly are the lines of a page that are indented as code, without comments.
func commandsOnly(page string) map[string]bool {
	all := map[string]bool{}
	for _, line := range strings.Split(fence.ReplaceAllString(page, ""), "\n") {
		if line, ok := strings.CutPrefix(line, "    "); ok {
			all[remark.ReplaceAllString(line, "")] = true
		}
	}
	return all
}

var figure = regexp.MustCompile(`[+-]?\d[\d.]*k?( %|/s| UTC)?`)

// figures are the numbers of the outputs in a page: a report in Chinese is one of the same result.
func figures(page string) map[string]bool {
	all := map[string]bool{}
	for _, m := range fence.FindAllStringSubmatch(page, -1) {
		for _, number := range figure.FindAllString(m[2], -1) {
			all[number] = true
		}
	}
	return all
}

func sameFacts(t *testing.T, page string, want, got map[string]bool) {
	t.Helper()
	for _, line := range slices.Sorted(maps.Keys(want)) {
		if !got[line] {
			t.Errorf("%s lacks %s", page, line)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(got)) {
		if !want[line] {
			t.Errorf("%s has %s, and the English page does not", page, line)
		}
	}
}
