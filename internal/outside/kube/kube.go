// Package kube speaks with a Kubernetes cluster: what is left on a node, the
// objects of an arm as manifests, how they are made, watched and removed, and
// what the cluster says when it refuses. It knows pods and nodes and nothing of
// loads. Arithmetic and manifests are pure.
package kube

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
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

// Access says which cluster is meant: the files and the context of kubectl.
type Access struct {
	// Kubeconfig is a list of files as in $KUBECONFIG; empty: those of kubectl.
	Kubeconfig string
	Context    string // empty: the current one
	// Node is the name of the node that this host is; empty: it is found.
	Node string
	// PodNode is the name of the node of the pods, on which tare is not or not meant to
	// be; empty: they are on the node that this host is, and where it is none, on the
	// only one that there is.
	PodNode string
	// Namespace is one that is there already, for pods whose node tare is not on: the
	// user needs rights in it alone. Empty: a run makes its own.
	Namespace string
	// Image is that of pods whose node tare is not on, where an arm names none.
	Image string
	// VolumeBound is how long whoever provided a volume may take to remove it, from the
	// end of its claim; 0: two minutes.
	VolumeBound time.Duration
	// Rights is the command that prints the rights that this user needs; empty: tare plan --rbac.
	Rights string
	// Silences are shared by connections that are patient together; nil: one alone.
	Silences *Silences
}

// Cluster is a connection to a cluster. It connects with the first call.
type Cluster struct {
	Access // with absolute paths
	Server string
	User   string // name of the user in the kubeconfig
	// Patience is how long an API server that is away is waited for.
	Patience time.Duration

	client *rest.RESTClient
	config *rest.Config
	idle   http.RoundTripper // to be closed
}

// The only kinds that are used: the whole of client-go's clientset is five times
// as large.
var (
	scheme     = newScheme()
	codecs     = serializer.NewCodecFactory(scheme)
	parameters = runtime.NewParameterCodec(scheme)
)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, authentication.AddToScheme, authorization.AddToScheme} {
		if err := add(s); err != nil {
			panic(err) // never: the types are the library's own
		}
	}
	metav1.AddToGroupVersion(s, corev1.SchemeGroupVersion)
	return s
}

// callBound is how long one call of the API may take.
const callBound = 15 * time.Second

// Connect reads the kubeconfig. client-go's own log, about streams that broke and
// the like, would be in the middle of the progress: what matters comes back as an
// error.
func (a Access) Connect() (*Cluster, error) {
	klog.SetLogger(logr.Discard())
	rules, loader := a.rules(), a.loader()
	config, err := loader.ClientConfig()
	if err != nil {
		if clientcmd.IsEmptyConfig(err) { // says only what to try inside of a cluster
			err = errors.New("there is no such file, or it names no cluster")
		}
		return nil, hint.New(fmt.Errorf("no cluster: %s: %w", strings.Join(rules.Precedence, ", "), err),
			"name a kubeconfig and a context: --kubeconfig FILE --context NAME, or set KUBECONFIG; kubectl config get-contexts lists them")
	}
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	if a.VolumeBound == 0 {
		a.VolumeBound = usualVolumeBound
	}
	if a.Silences == nil {
		a.Silences = &Silences{}
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

// Close lets go of the connections.
func (c *Cluster) Close() error {
	utilnet.CloseIdleConnectionsFor(c.idle)
	return nil
}

// unknownUser stands for a user whose name is not known.
const unknownUser = "NAME"

// UserName is whom the cluster sees, where the kubeconfig tells: a certificate
// has the name in it, a token has not.
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

// absolute is a list of files that a later process in another directory finds.
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

// explain adds to an error of the API what to do about it. what says what was
// tried.
func (c *Cluster) explain(what string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", what, err)
	var netErr net.Error
	var urlErr *url.Error
	switch {
	case apierrors.IsUnauthorized(err):
		return hint.New(err, fmt.Sprintf("the credentials of user %q in %s are not valid, or no longer: renew them (kubectl auth whoami shows whom the cluster sees)", c.User, c.Kubeconfig))
	case apierrors.IsForbidden(err):
		return hint.New(err, c.forbidden(err.Error()))
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return hint.New(err, "the API server at "+c.Server+" does not answer in time")
	case errors.As(err, &urlErr):
		return hint.New(err, "is the cluster up, and is "+c.Server+" its address? kubectl cluster-info asks it too")
	}
	return err
}
