package report

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// TestNodesPageInBrowser opens pages of several nodes in a real browser, light
// and dark, wide and narrow, and goes through one with the tabulator.
func TestNodesPageInBrowser(t *testing.T) {
	b := newBrowser(t)
	for name, make := range nodesFixtures(t) {
		b.openPage(t, nodesPageOf(t, make))
		b.look(t, name)
	}
	b.openPage(t, nodesPageOf(t, nodesFixtures(t)["nodes-odd"]))
	b.screen(t, 1100, "light")
	b.tabThrough(t, 10)
	b.ask(t, "tooltips", `[...document.querySelectorAll('svg .effect')].filter(g => !g.querySelector(':scope > title')?.textContent.trim()).map(g => 'says nothing: ' + g.textContent)`)
	for _, c := range b.complaints {
		t.Error(c)
	}
}

// TestNodesPageWithoutScript and on paper.
func TestNodesPageWithoutScript(t *testing.T) {
	b := newBrowser(t)
	b.do(t, emulation.SetScriptExecutionDisabled(true))
	b.openPage(t, nodesPageOf(t, nodesFixtures(t)["nodes-odd"]))
	b.screen(t, 1100, "dark")
	b.ask(t, "no script", undrawn)
	b.print(t, "nodes-print")
	for _, c := range b.complaints {
		t.Error(c)
	}
}
