package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// widths are those of a phone and of a laptop.
var widths = []int64{390, 1280}

// builtSite is the folder of the site that tools/site.sh made.
func builtSite(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("TARETEST_SITE")
	if dir == "" {
		t.Skip("TARETEST_SITE names no built site: make test-site")
	}
	return dir
}

// browser is a tab of a headless Chromium that keeps what it complains about, and what it requests elsewhere.
type browser struct {
	context.Context
	mu         sync.Mutex
	complaints []string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal(err) // sh tools/deps.sh site
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, late := context.WithTimeout(ctx, 5*time.Minute) // a browser that hangs must not hang the tests
	t.Cleanup(late)
	b := &browser{Context: ctx}
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventConsoleAPICalled:
			b.complain(fmt.Sprintf("console: %s %s", e.Type, e.Args[0].Value))
		case *runtime.EventExceptionThrown:
			b.complain("exception: " + e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			b.complain("log: " + e.Entry.Text)
		case *network.EventRequestWillBeSent:
			if u := e.Request.URL; !strings.HasPrefix(u, "file:") && !strings.HasPrefix(u, "data:") {
				b.complain("request: " + u)
			}
		}
	})
	b.do(t, network.Enable(), log.Enable())
	return b
}

func (b *browser) complain(s string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, s)
}

// complained takes the complaints.
func (b *browser) complained() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.complaints
	b.complaints = nil
	return all
}

func (b *browser) do(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(b, actions...); err != nil {
		t.Fatal(err)
	}
}

// faults are what a reader could not read: a page wider than the screen, small print, a column of a table in which
// words are cut into pieces, output of tare whose columns are not aligned.
const faults = `(() => {
  const found = [], root = document.documentElement;
  if (root.scrollWidth > innerWidth) found.push("scrolls sideways: " + root.scrollWidth + " of " + innerWidth);
  const short = e => e.textContent.trim().slice(0, 40);
  for (const e of document.querySelectorAll("article td, article th, article pre, article p, article li")) {
    const size = parseFloat(getComputedStyle(e).fontSize);
    if (e.offsetParent && size < 12) found.push("small: " + size + " " + short(e));
  }
  for (const e of document.querySelectorAll("article td, article th")) {
    const text = document.createRange(), letters = e.textContent.trim().length;
    text.selectNodeContents(e);
    const lines = text.getBoundingClientRect().height / parseFloat(getComputedStyle(e).lineHeight);
    if (lines > 2.5 + letters / 6) found.push("narrow: " + lines.toFixed(1) + " lines: " + short(e));
  }
  for (const e of document.querySelectorAll("article pre code")) {
    const probe = document.createElement("span");
    probe.textContent = "0".repeat(100);
    e.append(probe);
    const cell = probe.getBoundingClientRect().width / 100;
    probe.remove();
    for (const wide of e.querySelectorAll(".wide")) {
      const got = wide.getBoundingClientRect().width, want = 2 * cell * [...wide.textContent].length;
      if (Math.abs(got - want) > cell / 4) found.push("not aligned: " + wide.textContent + " " + got + " of " + want);
    }
  }
  return found;
})()`

// Every page is read from the disk at both widths: nothing is requested elsewhere, nothing fails, and it is readable.
func TestPagesInBrowser(t *testing.T) {
	dir := builtSite(t)
	b := newBrowser(t)
	pages := 0
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".html" {
			return err
		}
		pages++
		for _, width := range widths {
			var found []string
			b.do(t, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+filepath.Join(dir, name)),
				chromedp.Evaluate(faults, &found))
			for _, s := range append(found, b.complained()...) {
				t.Errorf("%s, %d pixels: %s", name, width, s)
			}
			b.picture(t, name, width)
		}
		return nil
	})
	if err != nil || pages < 25 {
		t.Errorf("%d pages: %v", pages, err)
	}
}

// picture writes what the browser shows below TARETEST_PICTURES, for a person.
func (b *browser) picture(t *testing.T, name string, width int64) {
	dir := os.Getenv("TARETEST_PICTURES")
	if dir == "" {
		return
	}
	var png []byte
	b.do(t, chromedp.FullScreenshot(&png, 90))
	name = strings.ReplaceAll(strings.TrimSuffix(name, ".html"), "/", "-")
	file := filepath.Join(dir, fmt.Sprintf("%s-%d.jpg", name, width))
	if err := os.WriteFile(file, png, 0o666); err != nil {
		t.Fatal(err)
	}
}

// The search finds words of both languages without a server.
func TestSearch(t *testing.T) {
	dir := builtSite(t)
	for _, c := range []struct{ page, word, result string }{
		{"index.html", "durability", "volumes.html"},
		{"ci.html", "cpu-limit", "container.html"},
		{"zh/index.html", "隔离机制", "zh/neighbours.html"},
		{"zh/volumes.html", "混部", "zh/neighbours.html"},
		{"zh/index.html", "overlay", "zh/volumes.html"},
	} {
		b := newBrowser(t)
		var found bool
		const input = `.md-search__input`
		is := `[...document.querySelectorAll(".md-search-result__link")]` +
			`.some(e => e.pathname.endsWith("/` + c.result + `"))`
		err := chromedp.Run(b, chromedp.EmulateViewport(1280, 900),
			chromedp.Navigate("file://"+filepath.Join(dir, c.page)),
			chromedp.WaitVisible(input), chromedp.Click(input), chromedp.SendKeys(input, c.word),
			chromedp.Poll(is, &found, chromedp.WithPollingTimeout(20*time.Second))) // it grows while the word is typed
		if err != nil || !found {
			t.Errorf("%s: %s is not found in %s: %v", c.page, c.word, c.result, err)
		}
		for _, s := range b.complained() {
			t.Errorf("%s, search: %s", c.page, s)
		}
	}
}
