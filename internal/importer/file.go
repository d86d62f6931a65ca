package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tarelab/tare/internal/format"
	"github.com/tarelab/tare/internal/format/fio"
	"github.com/tarelab/tare/record"
)

// reader reads one file of one kind: the runs, and what is doubtful.
type reader func(name string, text io.Reader) ([]*run, []format.Warning, error)

// readers are those of the kinds.
func readerOf(kind format.Kind, head []byte) reader {
	switch kind {
	case format.SysbenchLog:
		return readSysbench
	case format.FioOutput:
		return readFio
	case format.FioLog:
		return readFioLog
	case format.ClickHouseLog:
		return readClickHouse
	case format.PgBenchOutput:
		return readPgBench
	case format.PgBenchLog:
		return readPgBenchLog
	case format.PgBenchAgg:
		return readPgBenchAggregate
	case format.HyperfineJSON:
		return readHyperfine
	case format.CSV:
		if first, _, _ := bytes.Cut(head, []byte("\n")); bytes.HasPrefix(first, []byte("command,mean,")) {
			return readHyperfineCSV
		}
		return readCSV
	}
	return nil
}

// Kinds are the names that Options.Kind can have.
func Kinds() []string {
	var out []string
	for _, k := range []format.Kind{format.SysbenchLog, format.FioOutput, format.FioLog, format.ClickHouseLog,
		format.PgBenchOutput, format.PgBenchLog, format.PgBenchAgg, format.HyperfineJSON, format.CSV} {
		out = append(out, string(k))
	}
	return out
}

// file reads one file of an arm.
func (r *Result) file(arm, path string, o Options) ([]*run, error) {
	in, size, err := open(path, o.In)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, head, err := format.Open(in)
	if err != nil {
		return nil, err
	}
	found := format.Found{Kind: o.Kind}
	if o.Kind == format.Unknown {
		found = detect(path, head)
	}
	read := readerOf(found.Kind, head)
	if read == nil {
		return nil, unknown(head, found)
	}
	all, warnings, broken := read(path, text)
	runs, err := certain(all, broken)
	if err != nil {
		return nil, err
	}
	for _, w := range append(warnings, cut(broken)...) {
		r.warn(arm, path, w)
	}
	r.Imported.Files = append(r.Imported.Files, record.ImportedFile{
		Arm: arm, Path: path, Kind: string(found.Kind), Era: found.Era, Bytes: size})
	for _, x := range runs {
		x.Arm, x.File = arm, path
	}
	return runs, nil
}

// detect is format.Detect, and fio's logs by their names where nothing but the
// name tells them.
func detect(path string, head []byte) format.Found {
	f := format.Detect(path, head)
	if f.Kind == format.CSV && fio.KindOf(path) != "" && f.Confidence == format.Guess {
		f.Kind = format.FioLog
	}
	return f
}

func unknown(head []byte, f format.Found) error {
	if len(bytes.TrimSpace(head)) == 0 {
		return &format.Error{Text: "the file is empty", Remedy: "check that the benchmark's output was really written to it"}
	}
	return &format.Error{Line: 1, Text: "no output of a tool that is known: " + f.Why,
		Remedy: "sysbench, fio, clickhouse-benchmark, pgbench, hyperfine and CSV are read; --kind says which it is"}
}

// certain keeps the runs about which something is known. Without one the error,
// or the want of any figure, is the answer.
func certain(runs []*run, err error) ([]*run, error) {
	var out []*run
	for _, r := range runs {
		if r.finish() {
			out = append(out, r)
		}
	}
	var damaged *format.Error
	if err != nil && !(errors.As(err, &damaged) && damaged.Cut && len(out) > 0) {
		return nil, err
	}
	if len(out) == 0 {
		return nil, &format.Error{Text: "there is no figure in it", Remedy: "check that the benchmark ran to its end"}
	}
	return out, nil
}

// cut is the warning about input that broke off.
func cut(err error) []format.Warning {
	var damaged *format.Error
	if !errors.As(err, &damaged) {
		return nil
	}
	return []format.Warning{{Line: damaged.Line, Text: damaged.Text, Remedy: damaged.Remedy}}
}

func (r *Result) warn(arm, path string, w format.Warning) {
	text := path + ": " + w.Text
	if w.Line > 0 {
		text = fmt.Sprintf("%s, line %d: %s", path, w.Line, w.Text)
	}
	r.Warnings = append(r.Warnings, record.Warning{Arm: arm, Text: text, Remedy: w.Remedy})
}

// open opens a file, or standard input for "-". A directory is refused by name.
func open(path string, in io.Reader) (io.ReadCloser, int64, error) {
	if path == "-" {
		return io.NopCloser(in), 0, nil
	}
	f, err := os.Open(path)
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &format.Error{Text: "this is a directory", Remedy: "name the files in it, as DIR/*.log"}
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
