package pgbench

import (
	"bytes"
	"fmt"
	"io"

	"github.com/tarelab/tare/internal/logs/format"
)

// Transaction is one line of the log of -l.
type Transaction struct {
	Client  int64 `json:"client"`
	Ended   int64 `json:"ended"`             // nanoseconds since 1970, by pgbench's clock
	Latency int64 `json:"latency,omitempty"` // nanoseconds; 0 where it did not finish
	// Failed says that it failed. Skipped says that it was never begun, because it was later than
	// the latency limit.
	Failed  bool `json:"failed,omitempty"`
	Skipped bool `json:"skipped,omitempty"`
}

// summary describes a whole log.
type summary struct {
	Lines    int              `json:"lines"` // transactions
	Warnings []format.Warning `json:"warnings,omitempty"`
}

// maxColumns of a log line.
const maxColumns = 17

// parseLog reads the log of transactions and calls each with every line.
func parseLog(r io.Reader, each func(Transaction)) (*summary, error) {
	s, p, bad := &summary{}, format.NewScan(r, declared), 0
	err := p.Each(func(line []byte) error {
		if p.Torn() {
			p.NoEnd()
			return nil
		}
		if len(line) == 0 {
			return nil
		}
		if x, ok := logLine(line); ok {
			s.Lines++
			each(x)
			return nil
		}
		p.Strange(line)
		if bad++; bad == 1 {
			p.Add(p.Number(), strangeLogEntry, checkFile(line[:min(len(line), 60)]))
		}
		return nil
	})
	s.Warnings = p.Doubts()
	if err == nil && s.Lines == 0 {
		err = p.Nothing(transactionLog)
	}
	return s, err
}

// columns reads numbers between blanks. One column may be a word; at is its index, or -1.
func columns(line []byte, x *[maxColumns]float64) (n int, word []byte, at int) {
	at = -1
	for i := 0; i < len(line); n++ {
		for i < len(line) && line[i] == ' ' {
			i++
		}
		if i == len(line) {
			return n, word, at
		}
		if n == maxColumns {
			return 0, nil, 0
		}
		v, size := format.Number(line[i:])
		end := i + size
		if size == 0 {
			end = i + blank(line[i:])
			if at >= 0 {
				return 0, nil, 0
			}
			word, at = line[i:end], n
		}
		if v < 0 || end < len(line) && line[end] != ' ' {
			return 0, nil, 0
		}
		x[n] = v
		i = end
	}
	return n, word, at
}

// blank returns the index of the first blank, or the length.
func blank(b []byte) int {
	if i := bytes.IndexByte(b, ' '); i >= 0 {
		return i
	}
	return len(b)
}

// logLine reads "client number latency script seconds microseconds [lag] [retries]". A failed transaction has
// a word in place of the latency.
func logLine(line []byte) (t Transaction, ok bool) {
	var x [maxColumns]float64
	n, word, at := columns(line, &x)
	if n < 6 || n > 8 || at >= 0 && at != 2 || x[4] < 1e8 || x[4] > 1<<33 || x[5] >= 1e6 || x[0] > 1e9 || x[2] > 1e15 {
		return t, false
	}
	t.Client, t.Ended, t.Latency = int64(x[0]), int64(x[4])*1e9+int64(x[5])*1e3, int64(x[2]*1e3)
	switch string(word) {
	case "":
	case "skipped":
		t.Skipped = true
	case "failed", "serialization", "deadlock":
		t.Failed = true
	default:
		return t, false
	}
	return t, true
}

// Pieces reads a log of transactions while pgbench writes it.
type Pieces struct{ rest []byte }

// Feed reads the next piece and calls each with the transactions whose lines are complete.
func (l *Pieces) Feed(piece []byte, each func(Transaction)) error {
	if len(l.rest) > 0 {
		l.rest = append(l.rest, piece...)
		piece = l.rest
	}
	for {
		i := bytes.IndexByte(piece, '\n')
		if i < 0 {
			break
		}
		t, ok := logLine(piece[:i])
		if !ok {
			return fmt.Errorf("pgbench's log: unknown line %q", piece[:min(i, 100)])
		}
		each(t)
		piece = piece[i+1:]
	}
	l.rest = append(l.rest[:0], piece...)
	return nil
}
