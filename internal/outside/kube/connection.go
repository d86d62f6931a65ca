package kube

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrRefused means that the cluster cannot be reached, or does not let this user do it. It is the cause of
// one exit code, whichever command meets it.
var ErrRefused = errors.New("the cluster refuses")

// refusedError is an error with ErrRefused as its cause.
type refusedError struct{ error }

func (e refusedError) Is(target error) bool { return target == ErrRefused }
func (e refusedError) Unwrap() error        { return e.error }

// connectionRemedy is the remedy for an error of a connection; empty: it is of another kind.
func connectionRemedy(err error, server string) string {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var header tls.RecordHeaderError
	var lookup *net.DNSError
	text := err.Error()
	switch {
	case errors.As(err, &authority):
		return server + " answers, and no authority that the kubeconfig names has signed its certificate: set certificate-authority of the cluster in the kubeconfig to its CA (kubectl config view), or look whether another server has that address"
	case errors.As(err, &name):
		return server + " answers, and its certificate is for other names: use one of them as the address in the kubeconfig, or set tls-server-name there"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate of " + server + " has expired or is not valid yet: compare this host's clock (date), and let the cluster's administrator renew it"
	case errors.As(err, &invalid):
		return "the certificate of " + server + " is not valid for a server: ask the cluster's administrator"
	case strings.Contains(text, "remote error: tls:"):
		return server + " refuses the certificate of the kubeconfig's user: renew client-certificate (kubectl config view shows which file it is)"
	case errors.As(err, &header), strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return server + " answers without TLS: it is not the port of an API server, or its address begins with http://"
	case strings.Contains(text, "proxyconnect"):
		return "the proxy of HTTPS_PROXY does not lead to " + server + ": unset it, or name the server in NO_PROXY"
	case errors.As(err, &lookup):
		return "this host finds no address for " + lookup.Name + ": getent hosts " + lookup.Name + "; look at the server's address in the kubeconfig"
	case errors.Is(err, unix.ECONNREFUSED):
		return "nothing listens at " + server + ": is the API server up, and is this its address? kubectl cluster-info asks it too"
	case errors.Is(err, unix.EHOSTUNREACH), errors.Is(err, unix.ENETUNREACH):
		return "no route leads from here to " + server + ": is a VPN or a tunnel up? ip route get shows the way"
	}
	return ""
}

// certain says that an error of a connection does not go away by itself.
func certain(err error) bool {
	var verification *tls.CertificateVerificationError
	var header tls.RecordHeaderError
	return errors.As(err, &verification) || errors.As(err, &header) || strings.Contains(err.Error(), "remote error: tls: bad certificate") ||
		strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}
