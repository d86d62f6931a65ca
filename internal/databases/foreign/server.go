package foreign

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"

	"github.com/tarelab/tare/internal/databases"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/undo/trust"
)

// Server is where a server answers and as whom tare asks.
type Server struct {
	Protocol               string // as db.Description has it
	User, Secret, Database string
	// Network and Address are those of net.Dial: "tcp" with host and port, or "unix" with a path.
	Network, Address string
	TLS              TLS
}

// TLS is how a connection is encrypted.
type TLS struct {
	Mode string // one of the modes below
	// CA is a file with certificates instead of the system's; Cert and Key are tare's own certificate and its key.
	CA, Cert, Key string
}

// Modes of TLS, the words of PostgreSQL.
const (
	None       = ""            // in clear
	Prefer     = "prefer"      // in clear if the server has no TLS and there is no password to protect
	Require    = "require"     // the certificate is not verified
	VerifyCA   = "verify-ca"   // the certificate is, its host name is not
	VerifyFull = "verify-full" // both are
)

// config is the client's part of TLS; nil: none.
func (t TLS) config(host string) (*tls.Config, error) {
	if t.Mode == None {
		return nil, nil
	}
	c := &tls.Config{ServerName: host, InsecureSkipVerify: t.Mode != VerifyFull}
	if t.CA != "" {
		text, err := trust.ReadGiven(t.CA)
		if err != nil {
			return nil, fmt.Errorf("certificates: %w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("certificates: %s has none in PEM", t.CA)
		}
	}
	if t.Mode == VerifyCA {
		c.VerifyConnection = func(s tls.ConnectionState) error { return verifyChain(s, c.RootCAs) }
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("certificate of the client: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// verifyChain verifies the server's certificate without its host name. nil are the system's roots.
func verifyChain(s tls.ConnectionState, roots *x509.CertPool) error {
	o := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
	for _, c := range s.PeerCertificates[1:] {
		o.Intermediates.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(o)
	return err
}

// errClear is the refusal to send a password that others on the way could read.
var errClear = errors.New("a password would leave this host in clear")

// connect connects to the server. The first connection decides which of the host's addresses is the server, and
// whether it is on this host; all others go to the same address.
func (s Server) connect(ctx context.Context, b *budget) (c db.Conn, clear bool, err error) {
	host, _, err := net.SplitHostPort(s.Address)
	if err != nil && s.Network != "unix" {
		return nil, false, err
	}
	config, err := s.TLS.config(host)
	if err != nil {
		return nil, false, err
	}
	first, err := b.dial(ctx, s.Network, s.Address)
	if err != nil {
		return nil, false, err
	}
	here := s.Network == "unix" || loopback(first.RemoteAddr())
	if !here && config == nil && s.Secret != "" {
		return nil, true, errors.Join(errClear, first.Close())
	}
	line := &line{budget: b, network: s.Network, address: first.RemoteAddr().String(), first: first}
	if s.Network == "unix" {
		line.address = s.Address
	}
	p, err := databases.Protocol(s.Protocol)
	if err != nil {
		return nil, false, errors.Join(err, first.Close())
	}
	c, err = p.Connect(db.Address{
		Protocol: s.Protocol, User: s.User, Secret: s.Secret, Database: s.Database, Dial: s.Address,
		Way: &db.Way{Open: line.open, TLS: config, Fallback: s.TLS.Mode == Prefer && (here || s.Secret == "")},
	})
	return c, !here && (config == nil || s.TLS.Mode == Prefer), err
}

// loopback says whether an address that was dialled is on this host.
func loopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
