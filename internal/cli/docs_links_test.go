package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/planning/experiment"
)

// docs/README.md has a row for every page and for no other, README leads to it, and tare presets prints every preset.
func TestIndexOfDocs(t *testing.T) {
	all := pages(t)
	var want []string
	for name := range all {
		if page, ok := strings.CutPrefix(name, "docs/"); ok && page != "README.md" && !strings.HasPrefix(name, chineseDocs) {
			want = append(want, page)
		}
	}
	slices.Sort(want)
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\| \[[\w ]+\]\(([\w-]+\.md)\) \|`).FindAllStringSubmatch(all["docs/README.md"], -1) {
		got = append(got, m[1])
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("docs/README.md has rows for\n%v\nwant\n%v", got, want)
	}
	if !strings.Contains(all["README.md"], "](docs/README.md)") {
		t.Error("README.md has no link to docs/README.md")
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "presets"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if code := Main([]string{"presets"}, file, file); code != exitOK {
		t.Fatalf("tare presets ends with %d", code)
	}
	out, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range experiment.Presets() {
		if !regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(name) + `\s`).Match(out) {
			t.Errorf("tare presets does not print %s:\n%s", name, out)
		}
	}
}

// README is read on one screen or two, the pages in an hour.
func TestDocsAreShort(t *testing.T) {
	all := pages(t)
	const lines, words, docs = 90, 600, 18_000
	if n := strings.Count(all["README.md"], "\n"); n > lines {
		t.Errorf("README.md has %d lines, at most %d", n, lines)
	}
	if n := len(strings.Fields(all["README.md"])); n > words {
		t.Errorf("README.md has %d words, at most %d", n, words)
	}
	if n := strings.Count(all["docs/decisions.md"], "\n"); n >= 300 {
		t.Errorf("docs/decisions.md has %d lines", n)
	}
	sum := 0
	for name, page := range all {
		if strings.HasPrefix(name, "docs/") && !strings.HasPrefix(name, chineseDocs) {
			sum += len(strings.Fields(page))
		}
	}
	if sum > docs {
		t.Errorf("docs/*.md have %d words, at most %d", sum, docs)
	}
}

// Every file that a page, a text of tare or a comment names exists, and links lead to it.
func TestLinksOfDocs(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)]+)\)`)
	path := regexp.MustCompile(`docs/(zh/)?[\w-]+\.(md|yaml)`)
	seen := 0
	for name, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			seen++
			if _, err := os.Stat(filepath.Join("../..", filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d links were found", seen)
	}
	for name, text := range texts(t) {
		for _, file := range path.FindAllString(text, -1) {
			if _, err := os.Stat("../../" + file); err != nil && name != "internal/cli/docs_links_test.go" {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// texts are the pages, all Go files and the catalogue of sentences, by path.
func texts(t *testing.T) map[string]string {
	t.Helper()
	all := pages(t)
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if ext := filepath.Ext(path); ext != ".go" && ext != ".yaml" && d.Name() != "english.txt" {
			return nil
		}
		b, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, "../../")] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The Makefile's HOME_URL is the home that a binary of go run knows, and the one in README, docs/, CITATION.cff and mkdocs.yml.
func TestHomeURL(t *testing.T) {
	b, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^HOME_URL = (https://\S+)$`).FindSubmatch(b)
	if m == nil {
		t.Fatal("the Makefile has no HOME_URL")
	}
	home := string(m[1])
	if hint.Home != home {
		t.Errorf("hint.Home is %s, HOME_URL %s", hint.Home, home)
	}
	all, seen := pages(t), 0
	citation, err := os.ReadFile("../../CITATION.cff")
	if err != nil || !strings.Contains(string(citation), "\nrepository-code: "+home+"\n") {
		t.Errorf("CITATION.cff does not name %s (%v)", home, err)
	}
	all["CITATION.cff"] = string(citation)
	site, err := os.ReadFile("../../mkdocs.yml")
	if err != nil || !strings.Contains(string(site), "\n  home: "+home+" ") {
		t.Errorf("mkdocs.yml does not name %s (%v)", home, err)
	}
	for name, page := range all {
		for _, url := range regexp.MustCompile(`https?://[\w.-]+/[\w-]+/tare\b`).FindAllString(page, -1) {
			if seen++; url != home {
				t.Errorf("%s: %s, HOME_URL is %s", name, url, home)
			}
		}
	}
	if !strings.Contains(all["README.md"], "git clone "+home+" ") || seen < 2 {
		t.Errorf("README.md does not say where to clone from (%d links)", seen)
	}
}

// tare version prints the version on one line, the project's home on the next.
func TestVersionNamesHome(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "version"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	code := Main([]string{"version"}, file, file)
	out, err := os.ReadFile(file.Name())
	if want := thisBuild().text(false); err != nil || code != exitOK || string(out) != want || !strings.HasSuffix(want, "\n"+hint.Home+"\n") {
		t.Errorf("%q, want %q (%d, %v)", out, want, code, err)
	}
}
