package clickhouse

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/format"
)

// object is what --json wrote for one server.
type object struct {
	Server
	statistics bool
	fields     int
	mib, mibR  format.Num
}

// document reads a JSON document: one server's object, or objects by server.
func (p *parser) document() error {
	d, err := p.lines.Document()
	if err != nil {
		return err
	}
	flat, servers := object{}, []object(nil)
	err = d.Walk(func(j *format.JSON, key []byte) error {
		if known, err := flat.member(j, key); known || err != nil {
			return err
		}
		o := object{Server: Server{Name: strings.ToValidUTF8(string(key), "?")}}
		if !j.IsObject() {
			return nil
		}
		err := j.Object(func(key []byte) error {
			_, err := o.member(j, key)
			return err
		})
		if o.statistics || len(o.Quantiles) > 0 {
			servers = append(servers, o)
		}
		return err
	})
	var wrong *format.Error
	if errors.As(err, &wrong) {
		p.warn.Add(wrong.Line, wrong.Text, wrong.Remedy)
		return nil
	}
	if err != nil {
		return err
	}
	if flat.statistics {
		servers = []object{flat}
	}
	if len(servers) == 0 {
		p.warn.Once(d.Line, "JSON that is not clickhouse-benchmark's was left out", "")
		return nil
	}
	p.add(d.Line, flat.statistics, servers)
	return nil
}

// member reads a member of a server's object; other names are not known.
func (o *object) member(j *format.JSON, key []byte) (known bool, err error) {
	switch string(key) {
	case "statistics":
		o.statistics = true
		return true, j.Object(func(key []byte) error { return o.figure(j, key) })
	case "query_time_percentiles":
		return true, j.Object(func(key []byte) error { return o.quantile(j, key) })
	}
	return false, nil
}

func (o *object) figure(j *format.JSON, key []byte) error {
	n, err := j.Num()
	o.fields++
	switch string(key) {
	case "Time":
		o.Time = n
	case "QPS":
		o.QPS = n
	case "RPS":
		o.Rows = n
	case "MiBPS":
		o.mib = n
	case "RPS_result":
		o.ResultRows = n
	case "MiBPS_result":
		o.mibR = n
	case "num_queries":
		o.Queries = n
	case "num_errors":
		o.Errors = n
	}
	return err
}

func (o *object) quantile(j *format.JSON, key []byte) error {
	n, err := j.Num()
	if percent, ok := format.Whole(key).Get(); ok && percent >= 0 && percent <= 100 {
		o.Quantiles = append(o.Quantiles, format.Quantile{Q: format.Share(percent), Seconds: n.Positive()})
	}
	return err
}

// add makes a run of the document. Which revision wrote it, and so what its
// figures mean, is told by what is there (Benchmark.cpp, reportJSON).
func (p *parser) add(line int, flat bool, servers []object) {
	p.end()
	r := Run{Line: line, Form: "json", Complete: true}
	total := &Report{Line: line, Run: len(p.log.Runs)}
	for i := range servers {
		o := &servers[i]
		r.Era = p.settle(line, flat, o)
		slices.SortStableFunc(o.Quantiles, func(a, b format.Quantile) int { return cmp.Compare(a.Q, b.Q) })
		total.Servers = append(total.Servers, o.Server)
	}
	r.Total = total
	p.log.Runs = append(p.log.Runs, r)
	p.run, p.now = nil, nil
}

// settle gives the figures their units and drops those that a revision got
// wrong.
func (p *parser) settle(line int, flat bool, o *object) (era string) {
	unit := 1.0 // before 22.5 MiBPS is in bytes
	switch {
	case flat && o.fields > 2 && same(o.QPS, o.Rows, o.mib, o.ResultRows, o.mibR, o.Queries):
		p.warn.Once(line, "all statistics of this revision are the QPS (ClickHouse issue 619); only QPS and percentiles were read", "")
		o.Rows, o.ResultRows, o.Queries, o.mib, o.mibR = format.Num{}, format.Num{}, format.Num{}, format.Num{}, format.Num{}
		era = "1.1"
	case flat:
		era = "1.1 to 18.x"
	case o.Time.Known():
		era, unit = "22.5 to 23.7", mebi
	default:
		era = "19 to 22.4"
		o.PerConnection = true
		p.warn.Once(line, "the rates in this JSON are of one connection: one over the mean query time (ClickHouse pull request 36473)",
			"multiply by the concurrency (-c) for the whole, or compare ratios at the same concurrency")
	}
	o.Bytes, o.ResultBytes = o.mib.Times(unit), o.mibR.Times(unit)
	return era
}

func same(first format.Num, rest ...format.Num) bool {
	x, ok := first.Get()
	for _, n := range rest {
		ok = ok && n.Is(x)
	}
	return ok
}
