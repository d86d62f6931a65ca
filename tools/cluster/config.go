package main

import "fmt"

// bridge is the bridge of a node's pods; no rule routes out of it.
// allPods are the addresses of all pods, services those of Services.
const (
	bridge   = "tare-pods"
	allPods  = "10.177.0.0/23"
	services = "10.96.0.0/16"
	gateway  = "10.177.0.1" // of the first node's pods
)

// reserved is the CPU time that the kubelet keeps from pods: one that requests all CPUs does not fit.
const reserved = "100m"

// ports are free ports of loopback.
type ports struct{ etcd, peer, api, kubelet, health, metrics int }

// containerdConfig puts everything into the cluster's directory. restrict_oom_score_adj is for hosts
// without CAP_SYS_RESOURCE, where oom_score_adj cannot be lowered.
func (n node) containerdConfig() error {
	return n.write("containerd.toml", fmt.Sprintf(`version = 2
root = %q
state = %q
oom_score = 0
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
  address = %q
[plugins."io.containerd.internal.v1.opt"]
  path = %q
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %q
  restrict_oom_score_adj = true
  disable_hugetlb_controller = true
  netns_mounts_under_state_dir = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = %q
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
`, n.at("containerd"), n.at("state"), n.at("containerd.sock"), n.at("opt"), pauseImage, n.at("cni")))
}

func (n node) cniConfig() error {
	return n.write("cni/10-tare.conflist", fmt.Sprintf(`{
  "cniVersion": "1.0.0",
  "name": "tare-pods",
  "plugins": [{
    "type": "bridge", "bridge": %q, "isGateway": true, "ipMasq": false,
    "ipam": {
      "type": "host-local", "dataDir": %q,
      "ranges": [[{"subnet": %q}]], "routes": [{"dst": "0.0.0.0/0"}]
    }
  }, {
    "type": "portmap", "capabilities": {"portMappings": true}
  }]
}
`, bridge, n.at("addresses"), n.pods))
}

func (n node) kubeletConfig(p ports) error {
	return n.write("kubelet.yaml", fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: %s
port: %d
healthzPort: 0
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: %q}}
authorization: {mode: Webhook}
cgroupDriver: cgroupfs
cgroupRoot: %s
failCgroupV1: false
failSwapOn: false
oomScoreAdj: 0
evictionHard: {memory.available: "0%%", nodefs.available: "0%%", nodefs.inodesFree: "0%%", imagefs.available: "0%%"}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
kubeReserved: {cpu: %s}
cpuManagerPolicy: %s
cpuManagerReconcilePeriod: 1s
nodeLeaseDurationSeconds: 8
nodeStatusUpdateFrequency: 2s
nodeStatusReportFrequency: 5m
kubeAPIQPS: 200
kubeAPIBurst: 400
makeIPTablesUtilChains: false
resolvConf: %q
containerRuntimeEndpoint: unix://%s
podLogsDir: %q
volumePluginDir: %q
`, n.address, p.kubelet, n.in("ca.crt"), n.groups, reserved, n.cpuManager, n.at("resolv.conf"), n.at("containerd.sock"), n.at("pods"), n.at("plugins")))
}

func (c cluster) etcdArgs(p ports) []string {
	client, peer := fmt.Sprintf("https://127.0.0.1:%d", p.etcd), fmt.Sprintf("https://127.0.0.1:%d", p.peer)
	return []string{
		"--name=tare", "--data-dir=" + c.in("etcd"), "--logger=zap", "--log-level=warn",
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=tare=" + peer,
		"--client-cert-auth", "--trusted-ca-file=" + c.in("ca.crt"), "--cert-file=" + c.in("etcd.crt"), "--key-file=" + c.in("etcd.key"),
		"--peer-client-cert-auth", "--peer-trusted-ca-file=" + c.in("ca.crt"), "--peer-cert-file=" + c.in("etcd.crt"), "--peer-key-file=" + c.in("etcd.key"),
	}
}

func (c cluster) apiArgs(p ports) []string {
	kubelets := "Hostname" // which leads to loopback
	if c.nodes > 1 {
		kubelets = "InternalIP"
	}
	return []string{
		fmt.Sprintf("--etcd-servers=https://127.0.0.1:%d", p.etcd),
		"--etcd-cafile=" + c.in("ca.crt"), "--etcd-certfile=" + c.in("etcd.crt"), "--etcd-keyfile=" + c.in("etcd.key"),
		"--bind-address=" + c.address(), fmt.Sprintf("--secure-port=%d", p.api),
		"--advertise-address=" + gateway, "--endpoint-reconciler-type=none",
		"--cert-dir=" + c.in("api"), "--tls-cert-file=" + c.in("api.crt"), "--tls-private-key-file=" + c.in("api.key"),
		"--client-ca-file=" + c.in("ca.crt"),
		"--kubelet-preferred-address-types=" + kubelets,
		"--kubelet-client-certificate=" + c.in("admin.crt"), "--kubelet-client-key=" + c.in("admin.key"),
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
		"--service-cluster-ip-range=" + services,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.in("sa.pub"), "--service-account-signing-key-file=" + c.in("sa.key"),
	}
}

// controllerArgs make a silent node not ready after 40 s instead of 50, which is still more than the
// 30 s for which a test stops the API server, and remove the controllers' rate limit. Tests wait for
// both.
func (c cluster) controllerArgs() []string {
	return []string{
		"--node-monitor-period=2s", "--node-monitor-grace-period=40s", "--kube-api-qps=200", "--kube-api-burst=400",
		"--kubeconfig=" + c.in("controller.kubeconfig"), "--leader-elect=false", "--bind-address=127.0.0.1", "--secure-port=0",
		"--use-service-account-credentials=true", "--service-account-private-key-file=" + c.in("sa.key"), "--root-ca-file=" + c.in("ca.crt"),
	}
}

func (c cluster) schedulerArgs() []string {
	return []string{"--kubeconfig=" + c.in("scheduler.kubeconfig"), "--leader-elect=false", "--bind-address=127.0.0.1", "--secure-port=0"}
}

func (n node) kubeletArgs() []string {
	args := []string{
		"--config=" + n.at("kubelet.yaml"), "--kubeconfig=" + n.at("kubelet.kubeconfig"), "--root-dir=" + n.at("kubelet"),
		"--cert-dir=" + n.at("kubelet", "pki"), "--hostname-override=" + n.name,
	}
	if n.nodes > 1 {
		args = append(args, "--node-ip="+n.address)
	}
	return args
}
