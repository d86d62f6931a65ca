package nodes

import (
	"bufio"
	"time"
)

// client is the lifeline to whoever started the helper.
type client struct {
	interrupts chan struct{}
	gone       chan struct{} // closed when it is lost
	back       chan struct{} // closed when it is heard again after that
}

// listen reads what the client says until it is lost: the end of the input, or
// silence, after which it may be back: a kubelet that is stopped, or a network, lets
// nothing through and ends nothing.
func listen(in *bufio.Reader) *client { return listenFor(in, lostAfter) }

func listenFor(in *bufio.Reader, patience time.Duration) *client {
	c := &client{interrupts: make(chan struct{}, 4), gone: make(chan struct{}), back: make(chan struct{})}
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
		if c.attend(words, patience) {
			if _, again := <-words; again {
				close(c.back)
			}
		}
		for range words { // it has been told
		}
	}()
	return c
}

// attend passes on what the client says until it is lost; silent: it may be heard
// again, for the connection has not ended.
func (c *client) attend(words <-chan byte, patience time.Duration) (silent bool) {
	defer close(c.gone)
	silence := time.NewTimer(patience)
	for {
		select {
		case b, ok := <-words:
			if !ok {
				return false
			}
			if b == interrupt {
				select {
				case c.interrupts <- struct{}{}:
				default: // enough of them wait
				}
			}
			silence.Reset(patience)
		case <-silence.C:
			return true
		}
	}
}

func (c *client) lost() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}
