package report

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

	"github.com/tarelab/tare/internal/analysis"
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
	b.load(t, e.Experiment, pageOf(t, e, s))
}

func (b *browser) load(t *testing.T, name, page string) {
	t.Helper()
	if len(page) > 300_000 {
		t.Errorf("%s: the page has %d bytes", name, len(page))
	}
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
		source := sourceOf(e)
		if name == "imported" {
			e, source = importedSource()
		}
		b.open(t, e, source)
		b.look(t, name)
		b.print(t, name+"-print")
	}
	for _, c := range b.complaints {
		t.Error(c)
	}
}

// look wants everything to be seen, light and dark, wide and narrow.
func (b *browser) look(t *testing.T, name string) {
	t.Helper()
	b.ask(t, name, short)
	for _, width := range []int64{1280, 900, 390} {
		for _, scheme := range []string{"light", "dark"} {
			what := fmt.Sprintf("%s, %d px, %s", name, width, scheme)
			b.screen(t, width, scheme)
			b.shot(t, fmt.Sprintf("%s-%d-%s", name, width, scheme))
			b.do(t, chromedp.Evaluate(`document.querySelectorAll('details').forEach(d => { d.was = d.open; d.open = true; })`, nil))
			b.ask(t, what, overflowing)
			b.ask(t, what, undrawn)
			b.ask(t, what, crossed)
			b.ask(t, what, gaps)
			b.ask(t, what, pale)
			b.do(t, chromedp.Evaluate(`document.querySelectorAll('details').forEach(d => d.open = d.was)`, nil))
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

// undrawn is charts that are not seen or empty, or that need a description.
const undrawn = `(() => {
  const out = [];
  for (const f of document.querySelectorAll('figure')) {
    if (f.closest('details:not([open])')) continue;
    const title = f.querySelector('h3').textContent, plots = [...f.querySelectorAll('tbody .plot > svg')];
    if (f.querySelectorAll('table').length !== 1) out.push(title + ' is drawn ' + f.querySelectorAll('table').length + ' times');
    if (plots.some(s => s.getBoundingClientRect().height < 15 || s.getBoundingClientRect().width < 150)) out.push(title + ' is too small');
    if (plots.some(s => !s.closest('.axis') && !(s.getAttribute('aria-label') || '').trim() && !s.closest('.effect'))) out.push(title + ' is not described');
    if (!f.querySelector('.mark, .dots')) out.push(title + ' is empty');
  }
  return out;
})()`

// crossed is text in a chart that a line, a mark or a dot crosses, that leaves the page, or that another
// text overlaps. The ground may pass behind a cell with a ground of its own.
const crossed = `(() => {
  const out = [], texts = [], width = document.documentElement.clientWidth;
  const hit = (a, b) => a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5;
  for (const f of document.querySelectorAll('figure')) {
    if (f.closest('details:not([open])')) continue;
    const walk = document.createTreeWalker(f, NodeFilter.SHOW_TEXT), range = document.createRange(), texts = [];
    for (let n; (n = walk.nextNode());) {
      if (!n.textContent.trim() || n.parentElement.closest('figcaption, h3')) continue;
      range.selectNodeContents(n);
      texts.push(...[...range.getClientRects()].filter(r => r.width).map(r => [n.textContent, r, n.parentElement]));
    }
    if (texts.length < 4) out.push('only ' + texts.length + ' texts');
    const behind = (e, n) => e.closest('.ground') && getComputedStyle(e.closest('.ground')).zIndex < 0 && /^rgb\(/.test(getComputedStyle(n.closest('th, td')).backgroundColor);
    const marks = [...f.querySelectorAll('use, line, .mark path, .arrow path, .dots, .spread, .field')].filter(e => !e.closest('defs')).map(e => [e, e.getBoundingClientRect()]);
    texts.forEach(([s, r, n], i) => {
      if (r.left < -1 || r.right > width + 1) out.push('leaves the page: ' + s);
      for (const [e, m] of marks) if (hit(r, m) && !behind(e, n)) out.push('"' + s + '" is crossed by ' + e.outerHTML.slice(0, 80));
      for (const [o, q] of texts.slice(i + 1)) if (hit({left: r.left, right: r.right, top: r.top + 3, bottom: r.bottom - 3}, q)) out.push('"' + s + '" overlaps "' + o + '"');
    });
  }
  return out.slice(0, 6);
})()`

// gaps are places between the rows of a forest where the lines behind it end.
const gaps = `(() => {
  const out = [];
  for (const f of document.querySelectorAll('.forest')) {
    if (f.closest('details:not([open])')) continue;
    const all = [...f.querySelectorAll('.ground')].map(e => e.getBoundingClientRect());
    all.slice(1).forEach((r, i) => { if (r.top > all[i].bottom + 0.1) out.push(f.id + ': ' + (r.top - all[i].bottom) + ' px below row ' + (i + 1)); });
    if (!all.length) out.push(f.id + ' has no lines');
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

// short is a page with more words than 1500 in what is not folded.
const short = `(() => {
  const count = () => document.body.innerText.split(/\s+/).filter(w => /[\p{L}\d]/u.test(w)).length;
  const n = count(), folded = [...document.querySelectorAll('details:not([open])')];
  folded.forEach(d => d.open = true);
  const all = count();
  folded.forEach(d => d.open = false);
  if (folded.length && all <= n) return ['folded words are counted'];
  return n > 1500 || n < 20 ? [n + ' words are not folded'] : [];
})()`

// TestPageOfRecords looks at the pages of real records, those that TARETEST_RECORDS names too.
func TestPageOfRecords(t *testing.T) {
	b := newBrowser(t)
	dirs := append([]string{"../../record/testdata/quick"}, filepath.SplitList(os.Getenv("TARETEST_RECORDS"))...)
	for _, dir := range dirs {
		r, err := record.Scan(dir)
		if err != nil {
			t.Fatal(err)
		}
		e, err := analysis.Analyse(r)
		if err != nil {
			t.Fatal(err)
		}
		b.open(t, e, Source{Plan: r.Plan, Manifest: r.Manifest})
		b.look(t, filepath.Base(dir))
		b.print(t, filepath.Base(dir)+"-print")
	}
	for _, c := range b.complaints {
		t.Error(c)
	}
}

// TestPageByKeyboard goes through the page with the tabulator alone.
func TestPageByKeyboard(t *testing.T) {
	b := newBrowser(t)
	e := richRun()
	b.open(t, e, sourceOf(e))
	b.screen(t, 1100, "light")
	b.tabThrough(t, 10)
	var open bool
	b.do(t, chromedp.Evaluate(`document.querySelector('#how > summary').focus()`, nil), chromedp.KeyEvent(kb.Enter),
		chromedp.Evaluate(`document.querySelector('#how').open`, &open))
	if !open {
		t.Error("Enter does not unfold a part")
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

// TestPageWithoutScript looks at a page whose scripts are forbidden.
func TestPageWithoutScript(t *testing.T) {
	b := newBrowser(t)
	e := richRun()
	b.do(t, emulation.SetScriptExecutionDisabled(true))
	b.open(t, e, sourceOf(e))
	b.screen(t, 1100, "dark")
	b.ask(t, "no script", undrawn)
	b.ask(t, "no script", `[...document.querySelectorAll('script, noscript, [onclick], button')].map(e => 'needs a script: ' + e.outerHTML)`)
	for _, c := range b.complaints {
		t.Error(c)
	}
}

// print looks at the page on paper, where it has at most six sheets.
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
		pdf, _, err = paper.PrintToPDF().WithPrintBackground(true).WithMarginTop(0.4).WithMarginBottom(0.4).
			WithMarginLeft(0.4).WithMarginRight(0.4).Do(ctx) // as browsers do
		return err
	}))
	if n := len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(pdf, -1)); n < 1 || n > 6 {
		t.Errorf("%s: %d sheets", name, n)
	}
	if dir := os.Getenv("TARETEST_SHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".pdf"), pdf, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
