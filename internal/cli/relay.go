package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/tarelab/tare/internal/report/export"
)

// longestLine is how many bytes of a line are buffered.
const longestLine = 64 << 10

// relayed is a writer for the output of another program or host. It writes whole lines without
// control characters, after a prefix; a line above longestLine in parts. Several goroutines may
// write.
type relayed struct {
	to     io.Writer
	prefix string
	event  string // the node of which each line is an object (--progress json); empty: lines are text

	mu   sync.Mutex
	part []byte
}

func (p *relayed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.part = append(p.part, b...)
	for {
		end := slices.Index(p.part, '\n')
		if end < 0 {
			if len(p.part) > longestLine {
				p.rest()
			}
			return len(b), nil
		}
		if err := p.line(p.part[:end]); err != nil {
			return 0, err
		}
		p.part = p.part[end+1:]
	}
}

// flush writes the last line if it has no line end.
func (p *relayed) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest()
}

func (p *relayed) rest() {
	if len(p.part) > 0 {
		_ = p.line(p.part) // the reader is gone
		p.part = nil
	}
}

func (p *relayed) line(b []byte) error {
	text := export.Clean(string(b))
	if p.event != "" {
		text = eventOfNode(p.event, text)
	}
	_, err := fmt.Fprintf(p.to, "%s%s\n", p.prefix, text)
	return err
}

// eventOfNode adds the node to the object of a line. Another line becomes a note.
func eventOfNode(node, line string) string {
	var fields map[string]json.RawMessage // as they are: a seed has more digits than a float64
	var event any = &fields
	if err := json.Unmarshal([]byte(line), &fields); err != nil || fields["event"] == nil {
		event = map[string]string{"event": "note", "text": line, "node": node}
	} else {
		fields["node"], _ = json.Marshal(node) // a string has no error
	}
	b, err := json.Marshal(event)
	if err != nil {
		return ""
	}
	return string(b)
}
