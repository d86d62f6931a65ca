package kube

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// WriteKubeconfig writes a kubeconfig for a server with a token in a file.
func WriteKubeconfig(file string, s Server, tokenFile string) error {
	const name = "tare"
	c := api.NewConfig()
	c.Clusters[name] = &api.Cluster{
		Server: s.URL, CertificateAuthorityData: s.CA, TLSServerName: s.Name, InsecureSkipTLSVerify: s.Insecure,
	}
	c.AuthInfos[name] = &api.AuthInfo{TokenFile: tokenFile}
	c.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	c.CurrentContext = name
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		return fmt.Errorf("write a kubeconfig: %w", err)
	}
	return nil
}
