package nodes

import (
	"bufio"
	"time"
)

// client is the connection to the client, as tare on the node sees it.
type client struct {
	interrupts chan struct{}
	gone       chan struct{} // closed when the client is lost
}

// listen reads from the client until the input ends or is silent for lostAfter. A
// stopped kubelet and a broken network end no connection: they let nothing through.
func listen(in *bufio.Reader) *client { return listenFor(in, lostAfter) }

func listenFor(in *bufio.Reader, patience time.Duration) *client {
	c := &client{interrupts: make(chan struct{}, 4), gone: make(chan struct{})}
	bytes := make(chan byte)
	go func() {
		defer close(bytes)
		for {
			b, err := in.ReadByte()
			if err != nil {
				return
			}
			bytes <- b
		}
	}()
	go func() {
		c.attend(bytes, patience)
		close(c.gone)
		for range bytes { // too late
		}
	}()
	return c
}

// attend passes interrupts on until the client is lost.
func (c *client) attend(bytes <-chan byte, patience time.Duration) {
	silence := time.NewTimer(patience)
	for {
		select {
		case b, ok := <-bytes:
			if !ok {
				return
			}
			if b == interrupt {
				select {
				case c.interrupts <- struct{}{}:
				default: // enough of them wait
				}
			}
			silence.Reset(patience)
		case <-silence.C:
			return
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
