package pgbench

import (
	"bytes"
	"fmt"
)

// Log reads a log of transactions, piece by piece. A line is
//
//	client transaction latency_us script epoch_s epoch_us [lag_us] [retries]
//
// where a transaction that failed has a word in place of its latency.
type Log struct{ rest []byte }

// Transaction is one line of the log.
type Transaction struct {
	Latency int64 // nanoseconds
	Ended   int64 // nanoseconds since 1970, by pgbench's own clock
	// Failed says that it was given up, Skipped that it was never begun.
	Failed, Skipped bool
}

// Feed takes the next piece and hands on the transactions whose lines are
// complete.
func (l *Log) Feed(piece []byte, take func(Transaction)) error {
	if len(l.rest) > 0 {
		l.rest = append(l.rest, piece...)
		piece = l.rest
	}
	for {
		i := bytes.IndexByte(piece, '\n')
		if i < 0 {
			break
		}
		t, ok := transaction(piece[:i])
		if !ok {
			return fmt.Errorf("pgbench's log: unknown line %q", piece[:min(i, 100)])
		}
		take(t)
		piece = piece[i+1:]
	}
	l.rest = append(l.rest[:0], piece...)
	return nil
}

func transaction(line []byte) (t Transaction, ok bool) {
	var words [6][]byte
	for i := range words {
		words[i], line, _ = bytes.Cut(line, []byte(" "))
	}
	seconds, ok1 := whole(words[4])
	micros, ok2 := whole(words[5])
	if !ok1 || !ok2 || seconds > 1<<33 || micros >= 1e6 {
		return t, false
	}
	t.Ended = seconds*1e9 + micros*1e3
	switch string(words[2]) {
	case "skipped":
		t.Skipped = true
		return t, true
	case "failed", "serialization", "deadlock":
		t.Failed = true
		return t, true
	}
	latency, ok := whole(words[2])
	t.Latency = latency * 1000
	return t, ok
}

// whole reads a whole number of at most 15 digits.
func whole(word []byte) (n int64, ok bool) {
	for _, c := range word {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, len(word) > 0 && len(word) <= 15
}
