package report

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestChartsAreSaved takes what the buttons would save: a drawing that stands
// alone, with its colours, and a picture with something in it.
func TestChartsAreSaved(t *testing.T) {
	b := newBrowser(t)
	e := richRun()
	b.open(t, e, sourceOf(e))
	b.screen(t, 1280, "light")
	var charts, svgs, pngs int
	b.do(t, chromedp.Evaluate(`(() => {
	  window.saved = [];
	  HTMLAnchorElement.prototype.click = function () { saved.push([this.download, this.href]); };
	  document.querySelectorAll('.save button').forEach(b => b.click());
	  return document.querySelectorAll('figure').length;
	})()`, &charts), chromedp.Poll(`saved.length >= 2 * document.querySelectorAll('figure').length`, nil))
	b.ask(t, "SVG", `saved.filter(s => s[0].endsWith('.svg')).flatMap(([name, url]) => {
	  const d = new DOMParser().parseFromString(decodeURIComponent(url.slice(url.indexOf(',') + 1)), 'image/svg+xml');
	  const out = [];
	  if (d.querySelector('parsererror')) out.push(name + ' is no SVG');
	  if ([...d.querySelectorAll('text')].some(t => !t.getAttribute('fill') || t.getAttribute('fill').includes('var('))) out.push(name + ' has texts without a colour');
	  return out;
	})`)
	b.ask(t, "PNG", `saved.filter(s => s[0].endsWith('.png')).filter(s => s[1].length < 4000).map(s => s[0] + ' is empty')`)
	b.do(t, chromedp.Evaluate(`saved.filter(s => s[0].endsWith('.svg')).length`, &svgs), chromedp.Evaluate(`saved.filter(s => s[0].endsWith('.png')).length`, &pngs))
	if charts < 5 || svgs != charts || pngs != charts {
		t.Errorf("%d charts, %d SVG, %d PNG", charts, svgs, pngs)
	}
	for _, c := range b.complaints {
		if !strings.Contains(c, "request: blob") {
			t.Error(c)
		}
	}
}
