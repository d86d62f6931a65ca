package main

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// certs is the certificate authority of a cluster. Its key is never written to a file.
type certs struct {
	cluster
	ca    *x509.Certificate
	key   crypto.Signer
	caPEM []byte
}

// validity is longer than any test.
const validity = 30 * 24 * time.Hour

func newCerts(c cluster) (*certs, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	t := template(pkix.Name{CommonName: "tare-cluster"})
	t.IsCA, t.BasicConstraintsValid = true, true
	t.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return nil, err
	}
	s := &certs{cluster: c, key: key, caPEM: encode("CERTIFICATE", der)}
	if s.ca, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	return s, os.WriteFile(c.in("ca.crt"), s.caPEM, 0o600)
}

func template(name pkix.Name) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		panic(err) // never
	}
	return &x509.Certificate{
		Subject: name, SerialNumber: serial,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(validity),
	}
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// sign makes a key and a certificate for server and client.
func (s *certs) sign(name string, groups ...string) (cert, key []byte, err error) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	t := template(pkix.Name{CommonName: name, Organization: groups})
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	t.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.ParseIP(link[0].address)}
	t.DNSNames = []string{"localhost"}
	der, err := x509.CreateCertificate(rand.Reader, t, s.ca, k.Public(), s.key)
	if err != nil {
		return nil, nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(k)
	return encode("CERTIFICATE", der), encode("PRIVATE KEY", private), err
}

// pair writes a certificate and its key to NAME.crt and NAME.key.
func (s *certs) pair(file, name string, groups ...string) error {
	cert, key, err := s.sign(name, groups...)
	if err == nil {
		err = os.WriteFile(s.in(file+".crt"), cert, 0o600)
	}
	if err == nil {
		err = os.WriteFile(s.in(file+".key"), key, 0o600)
	}
	return err
}

// serviceAccounts writes the pair of keys that signs tokens.
func (s *certs) serviceAccounts() error {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(k.Public())
	if err == nil {
		err = os.WriteFile(s.in("sa.key"), encode("PRIVATE KEY", private), 0o600)
	}
	if err == nil {
		err = os.WriteFile(s.in("sa.pub"), encode("PUBLIC KEY", public), 0o600)
	}
	return err
}

// kubeconfig writes a kubeconfig for a user.
func (s *certs) kubeconfig(file, server, user string, groups ...string) error {
	cert, key, err := s.sign(user, groups...)
	if err != nil {
		return err
	}
	b64 := base64.StdEncoding.EncodeToString
	var b bytes.Buffer
	fmt.Fprintf(&b, `apiVersion: v1
kind: Config
current-context: tare
clusters:
- name: tare
  cluster: {server: %q, certificate-authority-data: %s}
contexts:
- name: tare
  context: {cluster: tare, user: tare}
users:
- name: tare
  user: {client-certificate-data: %s, client-key-data: %s}
`, server, b64(s.caPEM), b64(cert), b64(key))
	return os.WriteFile(file, b.Bytes(), 0o600)
}
