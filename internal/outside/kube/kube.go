// Package kube is tare's client of Kubernetes. It writes the manifests of an arm's objects,
// makes, watches and removes the objects, adds up the requests on a node, and adds remedies
// to the cluster's errors. It must not know loads. Arithmetic and manifests are pure.
package kube

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/tarelab/tare/internal/base/hint"
)

// Access says how to reach a cluster.
type Access struct {
	// Kubeconfig is a list of files as in $KUBECONFIG; empty: kubectl's default.
	Kubeconfig string
	Context    string // empty: the current context
	// Node is the name of the node that this host is; empty: ThisNode finds it.
	Node string
	// PodNode is the name of the pods' node when tare does not use the node that this host
	// is. Empty: that node, or if this host is no node the only one of the cluster.
	PodNode string
	// Namespace is an existing namespace for pods when tare is not on their node: the user
	// needs rights in it alone. Empty: each run makes its own.
	Namespace string
	// Image is the default image of pods when tare is not on their node.
	Image string
	// VolumeBound is how long a provisioner may take to remove a volume after its claim was
	// removed; 0: two minutes.
	VolumeBound time.Duration
	// Rights is the command that prints the rights that this user needs; empty: tare plan --rbac.
	Rights string
	// Outages are shared by connections with one patience; nil: this connection's own.
	Outages *Outages
}

// Cluster is a connection to a cluster. It connects with the first call.
type Cluster struct {
	Access // with absolute paths
	Server string
	User   string // name of the user in the kubeconfig
	// Patience is how long calls wait for an API server that is away.
	Patience time.Duration

	client *rest.RESTClient
	config *rest.Config
	idle   http.RoundTripper // of client; Close closes its idle connections
}

// The scheme has only the kinds that tare uses: the whole clientset of client-go is five
// times as large.
var (
	scheme     = newScheme()
	codecs     = serializer.NewCodecFactory(scheme)
	parameters = runtime.NewParameterCodec(scheme)
)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, authentication.AddToScheme, authorization.AddToScheme} {
		if err := add(s); err != nil {
			panic(err) // impossible: the types are the library's own
		}
	}
	metav1.AddToGroupVersion(s, corev1.SchemeGroupVersion)
	return s
}

// callBound is how long one call of the API may take.
const callBound = 15 * time.Second

// Connect reads the kubeconfig. It discards client-go's log, which would be written between
// the lines of the progress and repeats what errors say.
func (a Access) Connect() (*Cluster, error) {
	klog.SetLogger(logr.Discard())
	rules, loader := a.rules(), a.loader()
	config, err := loader.ClientConfig()
	if err != nil {
		if clientcmd.IsEmptyConfig(err) { // whose text is about clients in pods
			err = errors.New("there is no such file, or it names no cluster")
		}
		return nil, hint.New(refusedError{fmt.Errorf("no cluster: %s: %w", strings.Join(rules.Precedence, ", "), err)},
			"name a kubeconfig and a context: --kubeconfig FILE --context NAME, or set KUBECONFIG; kubectl config get-contexts lists them")
	}
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	if a.VolumeBound == 0 {
		a.VolumeBound = usualVolumeBound
	}
	if a.Outages == nil {
		a.Outages = &Outages{}
	}
	c := &Cluster{Access: a, Server: config.Host, Patience: usualPatience, config: config}
	if c.Context == "" {
		c.Context = raw.CurrentContext
	}
	if at := raw.Contexts[c.Context]; at != nil {
		c.User = at.AuthInfo
	}
	if c.Kubeconfig, err = absolute(rules.Precedence); err != nil {
		return nil, err
	}
	config.APIPath, config.GroupVersion = "/api", &corev1.SchemeGroupVersion
	config.NegotiatedSerializer = codecs.WithoutConversion()
	config.UserAgent, config.Timeout, config.QPS, config.Burst = "tare", callBound, 50, 100
	config.WarningHandler = rest.NoWarnings{}
	h, err := rest.HTTPClientFor(config)
	if err == nil {
		c.idle = h.Transport
		c.client, err = rest.RESTClientForConfigAndClient(config, h)
	}
	if err != nil {
		return nil, fmt.Errorf("speak with the cluster: %w", err)
	}
	return c, nil
}

// Close closes idle connections.
func (c *Cluster) Close() error {
	utilnet.CloseIdleConnectionsFor(c.idle)
	return nil
}

// unknownUser stands for an unknown user in commands.
const unknownUser = "NAME"

// UserName is the user's name in the cluster, if the kubeconfig has a certificate or
// impersonates a user; with a token it is unknownUser.
func (a Access) UserName() string {
	raw, err := a.loader().RawConfig()
	if err != nil {
		return unknownUser
	}
	at := raw.Contexts[cmp.Or(a.Context, raw.CurrentContext)]
	if at == nil || raw.AuthInfos[at.AuthInfo] == nil {
		return unknownUser
	}
	user := raw.AuthInfos[at.AuthInfo]
	if user.Impersonate != "" {
		return user.Impersonate
	}
	text := user.ClientCertificateData
	if len(text) == 0 {
		text, _ = os.ReadFile(user.ClientCertificate)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return unknownUser
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return unknownUser
	}
	return cmp.Or(cert.Subject.CommonName, unknownUser)
}

// Contexts are the names of the contexts in the kubeconfig, sorted; nil: it cannot be read.
func (a Access) Contexts() []string {
	raw, err := a.loader().RawConfig()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(raw.Contexts))
}

func (a Access) rules() *clientcmd.ClientConfigLoadingRules {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	if a.Kubeconfig != "" {
		rules.ExplicitPath, rules.Precedence = "", filepath.SplitList(a.Kubeconfig)
	}
	return rules
}

func (a Access) loader() clientcmd.ClientConfig {
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(a.rules(), &clientcmd.ConfigOverrides{CurrentContext: a.Context})
}

// absolute is a list of files with absolute paths, for a process in another directory.
func absolute(files []string) (string, error) {
	var all []string
	for _, f := range files {
		if f == "" {
			continue
		}
		f, err := filepath.Abs(f)
		if err != nil {
			return "", err
		}
		all = append(all, f)
	}
	return strings.Join(all, string(filepath.ListSeparator)), nil
}

// explain wraps an error of the API with what was tried, and adds a remedy.
func (c *Cluster) explain(what string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", what, err)
	var netErr net.Error
	var urlErr *url.Error
	if apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) || errors.As(err, &netErr) || errors.As(err, &urlErr) || errors.Is(err, context.DeadlineExceeded) {
		err = refusedError{err}
	}
	switch {
	case apierrors.IsUnauthorized(err):
		return hint.New(err, fmt.Sprintf("the credentials of user %q in %s are not valid, or no longer: renew them (kubectl auth whoami shows whom the cluster sees)", c.User, c.Kubeconfig))
	case apierrors.IsForbidden(err):
		return hint.New(err, c.forbidden(err.Error()))
	case connectionRemedy(err, c.Server) != "":
		return hint.New(err, connectionRemedy(err, c.Server))
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return hint.New(err, "the API server at "+c.Server+" does not answer in time")
	case errors.As(err, &urlErr):
		return hint.New(err, "is the cluster up, and is "+c.Server+" its address? kubectl cluster-info asks it too")
	}
	return err
}
