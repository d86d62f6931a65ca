package clickhouse

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/record"
)

// object is the JSON of one server.
type object struct {
	Statistics  *statistics         `json:"statistics"`
	Percentiles map[string]*float64 `json:"query_time_percentiles"`
}

type statistics struct {
	Time, QPS, RPS, MiBPS *float64
	ResultRPS             *float64 `json:"RPS_result"`
	ResultMiBPS           *float64 `json:"MiBPS_result"`
	Queries               *float64 `json:"num_queries"`
	Errors                *float64 `json:"num_errors"`
}

// document reads a JSON document as a run. It is the object of one server, or has objects by server.
func (p *parser) document() error {
	members := map[string]json.RawMessage{}
	line, err := p.JSON(&members)
	if line == 0 || err != nil {
		return err
	}
	r := run{Line: line, Complete: true, json: true, Total: &report{Line: line, Run: len(p.log.Runs)}}
	flat := object{}
	if json.Unmarshal(members["statistics"], &flat.Statistics) == nil && flat.Statistics != nil {
		_ = json.Unmarshal(members["query_time_percentiles"], &flat.Percentiles) // best effort
		r.Era = p.add(r.Total, &flat, true)
		members = nil
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var o object
		if json.Unmarshal(members[name], &o) == nil && (o.Statistics != nil || len(o.Percentiles) > 0) {
			r.Era = p.add(r.Total, &o, false)
		}
	}
	if n := len(r.Total.Servers); n == 1 && len(r.Total.Servers[0].Quantiles) == 0 { // somebody edited the document
		_ = json.Unmarshal(members["query_time_percentiles"], &flat.Percentiles)
		r.Total.Servers[0].Quantiles = quantiles(flat.Percentiles)
	}
	if len(r.Total.Servers) == 0 {
		p.NotOurs(line)
		return nil
	}
	p.end()
	p.log.Runs = append(p.log.Runs, r)
	p.run, p.now = nil, nil
	return nil
}

// add adds a server. The fields show which revision wrote the JSON and what its figures mean (Benchmark.cpp,
// reportJSON). Figures that a revision computed wrongly are dropped.
func (p *parser) add(to *report, o *object, flat bool) (era string) {
	t := o.Statistics
	if t == nil {
		t = &statistics{}
	}
	s := serverTotal{QPS: format.Given(t.QPS), Time: format.Given(t.Time), Queries: format.Given(t.Queries), Errors: format.Given(t.Errors),
		Quantiles: quantiles(o.Percentiles)}
	switch {
	case flat && same(t.QPS, t.RPS, t.MiBPS, t.ResultRPS, t.ResultMiBPS, t.Queries):
		p.Once(to.Line, allQPS, record.Said{})
		s.Queries, era = format.Num{}, "1.1"
	case flat:
		era = "1.1 to 18.x"
	case s.Time.Known():
		era = "22.5 to 23.7"
	default:
		era = "19 to 22.4"
		p.Once(to.Line, oneConnection, timesConcurrency)
	}
	to.Servers = append(to.Servers, s)
	return era
}

func quantiles(percentiles map[string]*float64) []format.Quantile {
	out := format.Percentiles(percentiles, -1, 1)
	for i, q := range out {
		out[i].Seconds = q.Seconds.NonZero()
	}
	return out
}

// same reports that all numbers are there and equal.
func same(list ...*float64) bool {
	for _, x := range list {
		if x == nil || *x != *list[0] {
			return false
		}
	}
	return true
}
