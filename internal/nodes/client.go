package nodes

import (
	"bufio"
	"time"
)

// client is the lifeline to whoever started the helper.
type client struct {
	interrupts chan struct{}
	gone       chan struct{} // closed when it is lost
}

// listen reads what the client says until it is lost: the end of the input, or
// silence.
func listen(in *bufio.Reader) *client {
	c := &client{interrupts: make(chan struct{}, 4), gone: make(chan struct{})}
	words := make(chan byte)
	go func() {
		defer close(words)
		for {
			b, err := in.ReadByte()
			if err != nil {
				return
			}
			words <- b
		}
	}()
	go func() {
		defer close(c.gone)
		silence := time.NewTimer(lostAfter)
		for {
			select {
			case b, ok := <-words:
				if !ok {
					return
				}
				if b == interrupt {
					select {
					case c.interrupts <- struct{}{}:
					default: // enough of them wait
					}
				}
				silence.Reset(lostAfter)
			case <-silence.C:
				return
			}
		}
	}()
	return c
}

func (c *client) lost() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}
