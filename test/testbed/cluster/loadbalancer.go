package cluster

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"text/template"
	"time"

	"github.com/refit-dev/refit/test/testbed/machine"
)

// loadBalancerGroup is the cgroup of the load balancer, next to those of the nodes.
const loadBalancerGroup = "load-balancer"

// haproxyConfig balances TCP and checks /readyz of each API server. Connections to a server that is
// marked down are closed: a client that reuses one would wait for a response that never comes.
// There is one retry, as in the kubeadm documentation: the last retry goes to another server
// immediately, while an earlier one waits a second for the same server.
var haproxyConfig = template.Must(template.New("haproxy").Parse(`global
    maxconn 2000
    nbthread 1
defaults
    mode tcp
    timeout connect 2s
    timeout client 4h
    timeout server 4h
    timeout check 2s
    retries 1
    option redispatch
frontend api
    bind {{.Endpoint}}
    default_backend api-servers
backend api-servers
    balance roundrobin
    option httpchk GET /readyz
    http-check expect status 200
    default-server check check-ssl verify none inter 1s fastinter 500ms fall 2 rise 2 on-marked-down shutdown-sessions
{{- range .Servers}}
    server {{.Name}} {{.Address}}:{{$.Port}}
{{- end}}
`))

// ensureMachine prepares the machine: kernel modules and limits, the bridge, and the load balancer,
// unless they exist.
func (c *Cluster) ensureMachine(ctx context.Context) error {
	if err := machine.LoadKernelModules(ctx); err != nil {
		return err
	}
	if err := machine.RaiseKernelLimits(); err != nil {
		return err
	}
	if err := machine.EnsureBridge(bridgeName(c.s.Number), c.s.bridgeAddress()); err != nil {
		return err
	}
	if c.s.VIP != "" {
		return nil
	}
	return c.ensureLoadBalancer(ctx)
}

func (c *Cluster) ensureLoadBalancer(ctx context.Context) error {
	group, err := c.cgroup(loadBalancerGroup)
	if err != nil {
		return err
	}
	pids, err := group.Processes()
	if err != nil || len(pids) > 0 {
		return err
	}
	config := filepath.Join(c.dir(), "haproxy.cfg")
	if err := c.writeLoadBalancerConfig(config); err != nil {
		return err
	}
	if err := group.Create(); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(c.dir(), "haproxy.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	// It outlives the run that starts it.
	cmd := exec.Command("haproxy", "-db", "-f", config) //nolint:noctx // it outlives the command that starts it
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := group.Start(cmd); err != nil {
		return fmt.Errorf("starting haproxy: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return c.waitLoadBalancer(ctx, ended, log.Name())
}

// waitLoadBalancer waits until haproxy accepts connections: otherwise kubeadm would fail much
// later.
func (c *Cluster) waitLoadBalancer(ctx context.Context, ended <-chan error, log string) error {
	for until := time.Now().Add(machine.Timeout(5 * time.Second)); ; {
		conn, err := (&net.Dialer{Timeout: machine.Timeout(time.Second)}).DialContext(ctx, "tcp", c.Endpoint())
		if err == nil {
			return conn.Close()
		}
		select {
		case err := <-ended:
			return fmt.Errorf("haproxy exited immediately (%w); its log: %s", err, log)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(until) {
			return fmt.Errorf("haproxy does not accept connections: %w; its log: %s", err, log)
		}
	}
}

func (c *Cluster) writeLoadBalancerConfig(file string) error {
	var text bytes.Buffer
	err := haproxyConfig.Execute(&text, map[string]any{
		"Endpoint": c.Endpoint(), "Servers": c.OfRole(RoleControlPlane), "Port": apiPort,
	})
	if err != nil {
		return err
	}
	return machine.WriteFileAtomic(file, text.Bytes(), 0o644)
}
