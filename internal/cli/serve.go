package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/record"
)

// serveResults serves the results below dir until Ctrl-C.
func serveResults(c *console, dir, listen string) error {
	if info, err := os.Stat(dir); err != nil {
		return &usageError{err, ""}
	} else if !info.IsDir() {
		return &usageError{fmt.Errorf("%s is not a directory", dir), ""}
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return &usageError{hint.New(err, "name a free address, for example --listen 127.0.0.1:8080"), ""}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	at := l.Addr().(*net.TCPAddr).AddrPort()
	fmt.Fprintf(c.stdout, "http://%s/\n", at)
	if !at.Addr().IsLoopback() {
		c.note("anybody who reaches %s can read these results", at)
	}
	c.note("Ctrl-C ends it")
	server := &http.Server{Handler: resultsHandler(dir, at.Addr().IsLoopback()), ReadHeaderTimeout: 5 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err = <-done:
	case <-ctx.Done():
		soon, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		err = server.Shutdown(soon)
	}
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// resultsHandler is the index at / and a page per result below /result/. Pages
// are made from the records when they are asked for. Through a loopback
// address only names of this machine are answered, so that no page from
// elsewhere reads results by pointing its own name here.
func resultsHandler(dir string, loopback bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		if err := report.Index(&b, dir, entries(dir)); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		sendPage(w, b.Bytes())
	})
	mux.HandleFunc("GET /result/{name...}", func(w http.ResponseWriter, r *http.Request) {
		name := path.Clean(r.PathValue("name"))
		if !servable(dir, name) {
			http.NotFound(w, r)
			return
		}
		var b bytes.Buffer
		if err := resultPage(&b, filepath.Join(dir, filepath.FromSlash(name)), name); err != nil {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprintln(w, err)
			return
		}
		sendPage(w, b.Bytes())
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if loopback && !local(r.Host) {
			http.Error(w, "only for this machine", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// servable says that a name is one of a result, or of a node of one.
func servable(dir, name string) bool {
	all := results(dir)
	if slices.Contains(all, name) {
		return true
	}
	above := path.Dir(name)
	if !slices.Contains(all, above) || !isNodes(filepath.Join(dir, filepath.FromSlash(above))) {
		return false
	}
	_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name), record.PlanFile))
	return err == nil
}

// resultPage makes the page of a result, or of several nodes.
func resultPage(w io.Writer, dir, name string) error {
	if side, err := readNodes(dir); side != nil || err != nil {
		if err != nil {
			return err
		}
		return side.page(w, func(below string) string { return addressOf(path.Join(name, below)) })
	}
	result, effects, err := analyse(dir)
	if err != nil {
		return err
	}
	return page(w, result, effects)
}

// addressOf is where the page of a result is.
func addressOf(name string) string {
	return (&url.URL{Path: "/result/" + strings.TrimPrefix(name, ".")}).String()
}

func sendPage(w http.ResponseWriter, page []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Write(page)
}

// local says whether a Host header names this machine.
func local(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	if name == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}

// depth is how far below the directory results are looked for.
const depth = 2

// results are the result directories at or below dir, as slash paths from it;
// "." is dir itself. Those of several nodes are one.
func results(dir string) []string {
	var out []string
	var look func(name string, left int)
	look = func(name string, left int) {
		here := filepath.Join(dir, filepath.FromSlash(name))
		if _, err := os.Stat(filepath.Join(here, record.PlanFile)); err == nil || isNodes(here) {
			out = append(out, name)
			return
		}
		if left == 0 {
			return
		}
		below, _ := os.ReadDir(here) // what may not be read holds nothing to show
		for _, d := range below {
			if d.IsDir() && !strings.HasPrefix(d.Name(), ".") {
				look(path.Join(name, d.Name()), left-1)
			}
		}
	}
	look(".", depth)
	return out
}

func entries(dir string) []report.Entry {
	var out []report.Entry
	for _, name := range results(dir) {
		e := report.Entry{Name: name, Path: addressOf(name)}
		at := filepath.Join(dir, filepath.FromSlash(name))
		side, err := readNodes(at)
		switch {
		case err != nil:
		case side != nil:
			e.Nodes = side.Nodes
		default:
			_, e.Effects, err = analyse(at)
		}
		if err != nil {
			e.Error = err.Error()
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b report.Entry) int { return strings.Compare(b.Started(), a.Started()) })
	return out
}
