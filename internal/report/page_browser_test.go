package report

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	paper "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// browser is a headless Chromium that keeps what it complains about.
type browser struct {
	context.Context
	mu         sync.Mutex
	complaints []string
}

// chromium is the one browser of all tests; each has a tab of its own.
type chromium struct {
	sync.Once
	context.Context
	stop func() // waits for the end of the browser; nil: none was started
	err  error
}

var shared chromium

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.stop != nil {
		shared.stop()
	}
	os.Exit(code)
}

func (c *chromium) start(path string) {
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(ctx)
	c.Context, c.stop = ctx, func() { cancel(); stop() }
	c.err = chromedp.Run(ctx) // the first tab keeps the browser
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	path := testneed.Tool(t, "chromium")
	shared.Do(func() { shared.start(path) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	ctx, cancel := chromedp.NewContext(shared.Context)
	t.Cleanup(cancel)
	// A browser that hangs must not hang the tests; nothing is asserted about it.
	ctx, late := context.WithTimeout(ctx, 3*time.Minute)
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

func (b *browser) do(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(b, actions...); err != nil {
		t.Fatal(err)
	}
}

// ask evaluates JavaScript that gives a list of complaints.
func (b *browser) ask(t *testing.T, what, script string) {
	t.Helper()
	var out []string
	b.do(t, chromedp.Evaluate(script, &out))
	for _, s := range out {
		t.Errorf("%s: %s", what, s)
	}
}

func (b *browser) screen(t *testing.T, width int64, scheme string) {
	t.Helper()
	b.do(t, chromedp.EmulateViewport(width, 900),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// shot keeps a picture where TARETEST_SHOTS names a directory, for a person.
func (b *browser) shot(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("TARETEST_SHOTS")
	if dir == "" {
		return
	}
	var png []byte
	b.do(t, chromedp.FullScreenshot(&png, 100))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

func (b *browser) open(t *testing.T, e *record.Effects, s Source) {
	t.Helper()
	b.openPage(t, pageOf(t, e, s))
}

func (b *browser) openPage(t *testing.T, page string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	b.do(t, chromedp.Navigate("file://"+path), chromedp.WaitReady("main"))
}

// TestPageInBrowser opens pages in a real browser, light and dark, wide and
// narrow.
func TestPageInBrowser(t *testing.T) {
	b := newBrowser(t)
	for name, e := range pageFixtures() {
		b.open(t, e, sourceOf(e))
		b.look(t, name)
	}
	for _, c := range b.complaints {
		t.Error(c)
	}
}

// look wants everything to be seen, light and dark, wide and narrow.
func (b *browser) look(t *testing.T, name string) {
	t.Helper()
	for _, width := range []int64{1280, 390} {
		for _, scheme := range []string{"light", "dark"} {
			what := fmt.Sprintf("%s, %d px, %s", name, width, scheme)
			b.screen(t, width, scheme)
			b.shot(t, fmt.Sprintf("%s-%d-%s", name, width, scheme))
			b.do(t, chromedp.Evaluate(`document.querySelectorAll('details').forEach(d => d.open = true)`, nil))
			b.ask(t, what, overflowing)
			b.ask(t, what, undrawn)
			b.ask(t, what, pale)
			b.do(t, chromedp.Evaluate(`document.querySelectorAll('details').forEach(d => d.open = false)`, nil))
		}
	}
}

// overflowing is what makes the page scroll sideways.
const overflowing = `(() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  const wide = [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > width + 1 && !e.closest('.scroll, pre'));
  return ['scrolls sideways: ' + wide.slice(0, 4).map(e => e.outerHTML.slice(0, 120)).join(' | ')];
})()`

// undrawn is charts that are not seen, or not described.
const undrawn = `(() => {
  const out = [];
  for (const f of document.querySelectorAll('figure')) {
    if (f.closest('details:not([open])')) continue;
    const seen = [...f.querySelectorAll('svg')].filter(s => s.getBoundingClientRect().height > 40);
    if (seen.length !== 1) { out.push(f.id + ' shows ' + seen.length + ' drawings'); continue; }
    const names = seen[0].getAttribute('aria-labelledby').split(' ').map(i => document.getElementById(i));
    if (names.some(n => !n || !n.textContent.trim())) out.push(f.id + ' is not described');
    if (!seen[0].querySelector('.dot, .bar, .dots, .area, .effect, .curve')) out.push(f.id + ' is empty');
    const box = seen[0].getBoundingClientRect();
    for (const t of seen[0].querySelectorAll('text')) {
      const r = t.getBoundingClientRect();
      if (r.width && (r.left < box.left - 3 || r.right > box.right + 3)) out.push(f.id + ': a text leaves the drawing: ' + t.textContent);
    }
  }
  return out;
})()`

// pale is text with less contrast than 4.5 (WCAG 2.2, 1.4.3). Text in drawings
// stands on the page's own ground or on the pale fields.
const pale = `(() => {
  const parse = s => (s.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const light = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] === 1) return c.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const out = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let n, counted = 0;
  while ((n = walk.nextNode())) {
    const e = n.parentElement, s = getComputedStyle(e);
    if (!n.textContent.trim() || e.closest('title, desc, script, style') || !e.getClientRects().length) continue;
    counted++;
    const a = light(parse(e.closest('svg') ? s.fill : s.color).slice(0, 3)), b = light(ground(e));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) out.add(contrast.toFixed(2) + ' ' + e.tagName + '.' + (e.getAttribute('class') || '') + ': ' + n.textContent.slice(0, 40));
  }
  if (counted < 5) out.add('only ' + counted + ' texts were looked at');
  return [...out];
})()`

// TestPageByKeyboard goes through the page with the tabulator alone, and
// through a series with the arrows.
func TestPageByKeyboard(t *testing.T) {
	b := newBrowser(t)
	e := userRun()
	b.open(t, e, sourceOf(e))
	b.screen(t, 1100, "light")
	b.tabThrough(t, 10)

	var before, after, tip string
	var open bool
	dots := `document.querySelector('svg.series.wide .dots').getAttribute('d')`
	b.do(t, chromedp.Evaluate(`document.querySelector('summary').focus()`, nil), chromedp.KeyEvent(kb.Enter),
		chromedp.Evaluate(`document.querySelector('details').open`, &open),
		chromedp.Evaluate(`document.querySelector('svg.series.wide').focus()`, nil), chromedp.KeyEvent(kb.ArrowRight),
		chromedp.Evaluate(`document.querySelector('.tip').textContent`, &tip),
		chromedp.Evaluate(dots, &before), chromedp.KeyEvent("+"), chromedp.Evaluate(dots, &after))
	if !open {
		t.Error("Enter does not open a table")
	}
	if !strings.HasSuffix(tip, "k/s") {
		t.Errorf("the first window says %q", tip)
	}
	if after == before || len(after) >= len(before) {
		t.Error("+ does not zoom")
	}
	b.do(t, chromedp.KeyEvent("0"), chromedp.Evaluate(dots, &after))
	if after != before {
		t.Error("0 does not go back to the whole time")
	}
	for _, c := range b.complaints {
		t.Error(c)
	}
}

// tabThrough wants at least so many things, and every one to be reached with the
// tabulator, and marked.
func (b *browser) tabThrough(t *testing.T, least int) {
	t.Helper()
	var want int
	b.do(t, chromedp.Evaluate(`(() => {
	  window.reached = new Set();
	  const all = [...document.querySelectorAll('a[href], summary, button, [tabindex="0"]')].filter(e => e.getClientRects().length && !e.closest('details:not([open]) > :not(summary)'));
	  document.addEventListener('focusin', e => { if (getComputedStyle(e.target).outlineStyle !== 'none') reached.add(e.target); });
	  window.wanted = all;
	  return all.length;
	})()`, &want))
	if want < least {
		t.Fatalf("only %d things to reach", want)
	}
	for range want + 2 {
		b.do(t, chromedp.KeyEvent(kb.Tab))
	}
	b.ask(t, "keyboard", `wanted.filter(e => !reached.has(e)).map(e => 'not reached, or not marked: ' + e.outerHTML.slice(0, 100))`)
}

// TestPageWithoutScript and on paper.
func TestPageWithoutScript(t *testing.T) {
	b := newBrowser(t)
	e := richRun()
	b.do(t, emulation.SetScriptExecutionDisabled(true))
	b.open(t, e, sourceOf(e))
	b.screen(t, 1100, "dark")
	b.ask(t, "no script", undrawn)
	b.ask(t, "no script", `[...document.querySelectorAll('.tools, .tip')].map(e => 'needs a script: ' + e.className)`)
	b.print(t, "print")
	for _, c := range b.complaints {
		t.Error(c)
	}
}

// print looks at the page on paper.
func (b *browser) print(t *testing.T, name string) {
	t.Helper()
	b.do(t, emulation.SetEmulatedMedia().WithMedia("print").WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}),
		chromedp.EmulateViewport(718, 1000))
	b.ask(t, "print", overflowing)
	b.ask(t, "print", undrawn)
	b.ask(t, "print", pale)
	b.shot(t, name)
	var pdf []byte
	b.do(t, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = paper.PrintToPDF().WithPrintBackground(true).Do(ctx)
		return err
	}))
	if !strings.HasPrefix(string(pdf), "%PDF-") || len(pdf) < 50_000 {
		t.Errorf("the print is %d bytes", len(pdf))
	}
	if dir := os.Getenv("TARETEST_SHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".pdf"), pdf, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
