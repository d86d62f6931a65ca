package foreign

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// certified writes a key and a certificate of itself for localhost, and returns their paths.
func certified(t *testing.T, dir string, owner int) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, &c, &c, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: plain}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, owner, -1); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// place is a directory of an account in which a server of the test runs.
func place(t *testing.T, account string) (dir string, as *syscall.Credential) {
	t.Helper()
	testneed.Root(t)
	u, err := user.Lookup(account)
	if err != nil {
		testneed.Feature(t, "the account "+account, err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if dir, err = os.MkdirTemp("", "tare-foreign"); err == nil {
		err = os.Chown(dir, uid, gid)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir, &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// command is a program that runs as an account.
func command(t *testing.T, as *syscall.Credential, dir string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(args[0], args[1:]...)
	c.Dir, c.SysProcAttr = dir, &syscall.SysProcAttr{Credential: as}
	return c
}

// started runs a server until the test ends.
func started(t *testing.T, as *syscall.Credential, dir string, args ...string) {
	t.Helper()
	c := command(t, as, dir, args...)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		log.Close()
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("%s", text[max(0, len(text)-2000):])
		}
	})
}

// ran runs a program to its end.
func ran(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// trial is a server with the modes that a password may take.
type trial struct {
	server       Server // over loopback, without TLS
	port         string // with TLS; empty: that of server
	socket, cert string
}

// check asks the server in every way.
func (x trial) check(t *testing.T) {
	t.Helper()
	_, port, _ := net.SplitHostPort(x.server.Address)
	if x.port != "" {
		port = x.port
	}
	at := func(network, address, secret string, tls TLS) Server {
		s := x.server
		s.Network, s.Address, s.Secret, s.TLS = network, address, secret, tls
		return s
	}
	local, remote := net.JoinHostPort("localhost", port), net.JoinHostPort(outside(t), port)
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(50 * time.Millisecond) { // PostgreSQL listens before it answers
		if _, _, err := asked(t, at("tcp", local, x.server.Secret, TLS{Mode: Require})); err == nil || !strings.Contains(err.Error(), "starting up") {
			break
		}
	}
	for name, c := range map[string]struct {
		server Server
		says   string // empty: it answers
	}{
		"verified":              {at("tcp", local, x.server.Secret, TLS{Mode: VerifyFull, CA: x.cert}), ""},
		"not verified":          {at("tcp", remote, x.server.Secret, TLS{Mode: Require}), ""},
		"of the authority":      {at("tcp", remote, x.server.Secret, TLS{Mode: VerifyCA, CA: x.cert}), ""},
		"of another host":       {at("tcp", remote, x.server.Secret, TLS{Mode: VerifyFull, CA: x.cert}), "certificate"},
		"of nobody known":       {at("tcp", local, x.server.Secret, TLS{Mode: VerifyCA}), "certificate"},
		"preferred":             {at("tcp", remote, x.server.Secret, TLS{Mode: Prefer}), ""},
		"in clear":              {at("tcp", remote, x.server.Secret, TLS{}), errClear.Error()},
		"another password":      {at("tcp", local, "guessed", TLS{Mode: Require}), "denied"},
		"file of another kind":  {at("tcp", local, x.server.Secret, TLS{Mode: VerifyFull, CA: "/etc/hostname"}), "has none"},
		"socket":                {at("unix", x.socket, x.server.Secret, TLS{}), ""},
		"no file":               {at("tcp", local, x.server.Secret, TLS{Mode: VerifyFull, CA: "/nowhere"}), "no such file"},
		"server that is not up": {at("tcp", "127.0.0.1:1", x.server.Secret, TLS{}), "refused"},
	} {
		if c.server.Network == "unix" && x.socket == "" {
			continue
		}
		rows, _, err := asked(t, c.server)
		var e *Error
		switch {
		case c.says == "" && (err != nil || len(rows) == 0):
			t.Errorf("%s: %v, %v", name, rows, err)
		case c.says == "denied" && (!errors.As(err, &e) || !e.Denied):
			t.Errorf("%s: %v, %v", name, rows, err)
		case c.says != "" && c.says != "denied" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v, %v; want %s", name, rows, err, c.says)
		}
	}
}

// await waits until something listens.
func await(t *testing.T, address string) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			return
		}
		if time.Since(begun) > time.Minute {
			t.Fatal(err)
		}
	}
}

const password = "gehe1m-x"

func TestMariaDB(t *testing.T) {
	testneed.Tool(t, "mariadbd")
	dir, as := place(t, "mysql")
	cert, key := certified(t, dir, int(as.Uid))
	data, sock := filepath.Join(dir, "db"), filepath.Join(dir, "s")
	ran(t, command(t, as, dir, "mariadb-install-db", "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal"))
	init := filepath.Join(dir, "init.sql")
	if err := os.WriteFile(init, fmt.Appendf(nil, "CREATE USER u IDENTIFIED BY '%[1]s';\nCREATE USER u@localhost IDENTIFIED BY '%[1]s';\n", password), 0o644); err != nil {
		t.Fatal(err)
	}
	address := testneed.Address(t)
	_, port, _ := net.SplitHostPort(address)
	started(t, as, dir, "mariadbd", "--no-defaults", "--datadir="+data, "--socket="+sock, "--port="+port, "--bind-address=0.0.0.0", "--init-file="+init, "--skip-name-resolve",
		"--ssl-cert="+cert, "--ssl-key="+key, "--require-secure-transport=ON")
	await(t, address)
	trial{Server{Protocol: "mysql", User: "u", Secret: password, Address: address}, "", sock, cert}.check(t)
}

func TestPostgreSQL(t *testing.T) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(found) == 0 {
		testneed.Tool(t, "postgres")
	}
	dir, as := place(t, "postgres")
	cert, key := certified(t, dir, int(as.Uid))
	data, secret := filepath.Join(dir, "db"), filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte(password), 0o644); err != nil {
		t.Fatal(err)
	}
	ran(t, command(t, as, dir, filepath.Join(found[0], "initdb"), "-D", data, "-U", "u", "-A", "scram-sha-256", "--pwfile="+secret, "--no-sync"))
	address := testneed.Address(t)
	_, port, _ := net.SplitHostPort(address)
	rules := "local all all password\nhostssl all all all password\n"
	if err := os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	started(t, as, dir, filepath.Join(found[0], "postgres"), "-D", data, "-k", dir, "-h", "*", "-p", port, "-c", "ssl=on", "-c", "ssl_cert_file="+cert, "-c", "ssl_key_file="+key)
	await(t, address)
	trial{Server{Protocol: "postgres", User: "u", Secret: password, Address: address}, "", filepath.Join(dir, ".s.PGSQL."+port), cert}.check(t)
}

func TestRedis(t *testing.T) {
	testneed.Tool(t, "redis-server")
	dir, as := place(t, "redis")
	cert, key := certified(t, dir, int(as.Uid))
	address, secure := testneed.Address(t), testneed.Address(t)
	_, port, _ := net.SplitHostPort(address)
	_, tls, _ := net.SplitHostPort(secure)
	sock := filepath.Join(dir, "s")
	started(t, as, dir, "redis-server", "--port", port, "--tls-port", tls, "--bind", "0.0.0.0", "--protected-mode", "no", "--unixsocket", sock, "--requirepass", password,
		"--tls-cert-file", cert, "--tls-key-file", key, "--tls-auth-clients", "no", "--dir", dir)
	await(t, secure)
	trial{Server{Protocol: "redis", User: "default", Secret: password, Address: address}, tls, sock, cert}.check(t)
}

func TestClickHouse(t *testing.T) {
	testneed.Tool(t, "clickhouse-server")
	dir, as := place(t, "clickhouse")
	cert, key := certified(t, dir, int(as.Uid))
	address, secure := testneed.Address(t), testneed.Address(t)
	_, port, _ := net.SplitHostPort(address)
	_, tls, _ := net.SplitHostPort(secure)
	const config = `<yandex><path>%[1]s/db/</path><tmp_path>%[1]s/tmp/</tmp_path><user_files_path>%[1]s/f/</user_files_path><format_schema_path>%[1]s/s/</format_schema_path>
<listen_host>0.0.0.0</listen_host><http_port>%[2]s</http_port><https_port>%[3]s</https_port><users_config>users.xml</users_config><mark_cache_size>1000000</mark_cache_size>
<logger><console>1</console></logger><default_profile>default</default_profile><default_database>default</default_database>
<openSSL><server><certificateFile>%[4]s</certificateFile><privateKeyFile>%[5]s</privateKeyFile><verificationMode>none</verificationMode></server></openSSL></yandex>`
	const users = `<yandex><profiles><default/></profiles><quotas><default/></quotas><users><u><password>%s</password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota></u></users></yandex>`
	for name, text := range map[string]string{"config.xml": fmt.Sprintf(config, dir, port, tls, cert, key), "users.xml": fmt.Sprintf(users, password)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	started(t, as, dir, "clickhouse-server", "--config-file="+filepath.Join(dir, "config.xml"))
	await(t, secure)
	trial{Server{Protocol: "clickhouse", User: "u", Secret: password, Address: address}, tls, "", cert}.check(t)
}
