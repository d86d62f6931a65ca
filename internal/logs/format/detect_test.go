package format_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/importer"
)

var known = importer.Known()

// Every file of every reader is recognised by its content, under a meaningless name.
func TestDetectAll(t *testing.T) {
	for pattern, want := range map[string]format.Kind{
		"sysbench/testdata/*.log":             "sysbench",
		"fio/testdata/*.json":                 "fio",
		"fio/testdata/*.txt":                  "fio",
		"fio/testdata/*_*.log":                "fio-log",
		"clickhouse/testdata/*.log":           "clickhouse-benchmark",
		"clickhouse/testdata/*.json":          "clickhouse-benchmark",
		"pgbench/testdata/*.log":              "pgbench",
		"pgbench/testdata/*transactions*.txt": "pgbench-log",
		"hyperfine/testdata/*.json":           "hyperfine",
		"hyperfine/testdata/*.csv":            "hyperfine-csv",
		"redis/testdata/*":                    "redis-benchmark",
		"csv/testdata/*.csv":                  "csv",
	} {
		names, _ := filepath.Glob("../" + pattern)
		if len(names) == 0 {
			t.Errorf("no files %s", pattern)
		}
		for _, name := range names {
			if strings.Contains(name, "pgbench-15-init") || strings.Contains(name, "refused") || strings.Contains(name, "noauth") || strings.HasSuffix(name, ".golden") {
				continue // no benchmark
			}
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			_, head, err := known.Open(f)
			f.Close()
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			got := known.Detect("data", head)
			if got.Kind != want || got.Confidence == format.None || got.Why == "" {
				t.Errorf("%s: %+v, want %s", name, got, want)
			}
		}
	}
}

func TestEra(t *testing.T) {
	for in, want := range map[string]string{
		"sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nRunning the test with following options:\n": "1.0.20",
		"sysbench 0.5:  multi-threaded system evaluation benchmark\n":                                     "0.5",
		"[ 607s ] thds: 56 tps: 22154.20 qps: 354451.12 (r/w/o: 310143.73/0.00/44307.39)\n":               "1.0 or 1.1",
		"[  10s] threads: 4, tps: 1.00, reads: 2.00\n":                                                    "0.4 or 0.5",
		"{\n  \"fio version\" : \"fio-3.36-12-gab\",\n":                                                   "3.36-12-gab",
		"mix: (g=0): rw=randrw, bs=4K-4K/4K-4K/4K-4K\nfio-2.2.10\n":                                       "2.2.10",
		"localhost:9000, queries: 10, QPS: 6.772, RPS: 1.0, MiB/s: 1.0\n":                                 "23.8 or later",
		"localhost:9000, queries 10, QPS: 6.772, RPS: 1.0, MiB/s: 1.0\n":                                  "20 to 23.7",
		"QPS: 6.772, RPS: 1.0, MiB/s: 1.0\n":                                                              "1.1 to 18.x",
		"pgbench (15.18 (Debian 15.18-0+deb12u1))\n":                                                      "15.18",
		"SET: 9.0\rSET: 34965.04 requests per second, p50=0.159 msec\n":                                   "6.2 or later",
		"  50 parallel clients\n99.95% <= 1 milliseconds\n84745.77 requests per second\n":                 "before 6.2",
	} {
		if got := known.Detect("x", []byte(in)); got.Era != want || got.Confidence != format.Certain {
			t.Errorf("%q: %+v, want %s", in, got, want)
		}
	}
}

// Files with lines similar to redis-benchmark's are not recognised as its output.
func TestDetectRedisWords(t *testing.T) {
	for in, want := range map[string]format.Kind{
		"====== bare metal ======\nWe saw 3000 requests per second.\nsysbench 1.0.20 (using x)\n": "sysbench",
		"\"arm\",\"tps\"\n\"host\",\"123.45\"\n\"pod\",\"120.45\"\n":                              "csv",
		"\"SET\",\"123.45\"\nsomething else\n":                                                    format.Unknown,
		"\"SET\",\"123.45\"\n\"GET\",\"99.00\"\n":                                                 "redis-benchmark",
		"test,rps,avg_latency_ms,min_latency_ms\nSET,1.00,1.0,1.0\n":                              "redis-benchmark",
		"test,rps\nSET,1.00\n":                                                                    "csv",
		"100000 requests completed in 1.16 seconds\n":                                             "redis-benchmark",
		"\rSET: rps=1.0 (overall: 1.0) avg_msec=1.0 (overall: 1.0)\r":                             "redis-benchmark",
	} {
		if got := known.Detect("data", []byte(in)); got.Kind != want {
			t.Errorf("%q: %+v, want %s", in, got, want)
		}
	}
}

func TestDetectOther(t *testing.T) {
	mixed := known.Detect("run.log", []byte("SQL statistics:\n  x\npgbench (15.14)\nsysbench 1.0.20 (using x)\n"))
	if mixed.Kind != "sysbench" || mixed.Era != "" {
		t.Errorf("%+v", mixed)
	}
	for in, why := range map[string]string{"": "no text", "hello\nworld\n": "it begins with: hello", "{\n\"x\": 1\n}\n": "none of the keys"} {
		if got := known.Detect("sysbench.log", []byte(in)); got.Kind != format.Unknown || !strings.Contains(got.Why, why) {
			t.Errorf("%q: %+v", in, got)
		}
	}
	if got := known.Detect("x_lat.1.log", []byte("1, 2, 0, 4096\n")); got.Confidence != format.Likely {
		t.Errorf("%+v", got)
	}
}

func pack(s string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(s))
	z.Close()
	return b.Bytes()
}

func TestOpen(t *testing.T) {
	text := strings.Repeat("SQL statistics:\n", 20_000)
	packed := pack(text)
	for name, c := range map[string]struct {
		in   []byte
		want string
		err  string
	}{
		"plain":       {[]byte(text), text, ""},
		"gzip":        {packed, text, ""},
		"cut gzip":    {packed[:len(packed)-9], text, "damaged or cut off"},
		"gzip header": {packed[:5], "", "gzip header is damaged"},
		"byte order":  {[]byte("\xef\xbb\xbfabc"), "abc", ""},
		"utf16":       {[]byte("\xff\xfea\x00"), "", "iconv"},
		"zstd":        {[]byte("\x28\xb5\x2f\xfdxx"), "", "zstd -d"},
		"zero":        {[]byte("ab\nc\x00"), "", "line 2: the input is not text"},
		"empty":       {nil, "", ""},
	} {
		r, head, err := known.Open(bytes.NewReader(c.in))
		var got []byte
		if err == nil {
			got, err = io.ReadAll(r)
			if !bytes.HasPrefix([]byte(c.want), head) {
				t.Errorf("%s: head %q", name, head[:10])
			}
		}
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
		if !strings.HasPrefix(c.want, string(got)) || c.err == "" && string(got) != c.want {
			t.Errorf("%s: %d bytes, want %d", name, len(got), len(c.want))
		}
	}
}

func FuzzDetect(f *testing.F) {
	for _, p := range []string{"../*/testdata/*.log", "../*/testdata/*.json", "../*/testdata/*.txt", "../*/testdata/*.csv"} {
		names, _ := filepath.Glob(p)
		for _, n := range names {
			b, err := os.ReadFile(n)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(filepath.Base(n), b[:min(len(b), 2000)])
		}
	}
	f.Fuzz(func(t *testing.T, name string, in []byte) {
		a, b := known.Detect(name, in), known.Detect(name, in)
		if a != b || (a.Tool == nil) != (a.Confidence == format.None) || a.Why == "" {
			t.Fatalf("%+v %+v", a, b)
		}
		if _, head, err := known.Open(bytes.NewReader(in)); err == nil && len(head) > 0 {
			known.Detect(name, head)
		}
	})
}
