package etcd

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// Config has the address of a member, and the files of the client certificate. Without files the
// connection is not encrypted.
type Config struct {
	Endpoints     []string
	CA, Cert, Key string
	// HTTP is the address for plain HTTP requests, if it is another one.
	HTTP string
}

// manifest has the fields of a static pod that are read here.
type manifest struct {
	Spec struct {
		Containers []struct {
			Name         string
			Command      []string
			Args         []string
			VolumeMounts []struct{ Name, MountPath string }
		}
		Volumes []struct {
			Name     string
			HostPath *struct{ Path string }
		}
	}
}

// ConfigFromManifest returns the configuration for the member on this host from its static pod.
func ConfigFromManifest(text []byte) (Config, error) {
	var pod manifest
	if err := yaml.Unmarshal(text, &pod); err != nil {
		return Config{}, fmt.Errorf("cannot parse the static pod of etcd: %w", err)
	}
	for _, c := range pod.Spec.Containers {
		flags := flagsOf(append(c.Command, c.Args...))
		if c.Name != "etcd" && flags["listen-client-urls"] == "" {
			continue
		}
		onHost := func(inPod string) string {
			for _, m := range c.VolumeMounts {
				rest, below := strings.CutPrefix(inPod, strings.TrimSuffix(m.MountPath, "/")+"/")
				for _, v := range pod.Spec.Volumes {
					if below && v.Name == m.Name && v.HostPath != nil {
						return filepath.Join(v.HostPath.Path, rest)
					}
				}
			}
			return inPod
		}
		return configFromFlags(flags, onHost)
	}
	return Config{}, errors.New("cannot find etcd in its static pod: no such container")
}

func flagsOf(args []string) map[string]string {
	flags := map[string]string{}
	for _, arg := range args {
		if name, value, ok := strings.Cut(strings.TrimLeft(arg, "-"), "="); ok && strings.HasPrefix(arg, "-") {
			flags[name] = strings.Trim(value, `"`)
		}
	}
	return flags
}

func configFromFlags(flags map[string]string, onHost func(string) string) (Config, error) {
	local, err := nearest(flags["listen-client-urls"])
	if err != nil {
		return Config{}, fmt.Errorf("cannot parse listen-client-urls of etcd: %w", err)
	}
	config := Config{Endpoints: []string{local}}
	if other := flags["listen-client-http-urls"]; other != "" {
		if config.HTTP, err = nearest(other); err != nil {
			return Config{}, fmt.Errorf("cannot parse listen-client-http-urls of etcd: %w", err)
		}
	}
	if !strings.HasPrefix(local, "https://") {
		return config, nil
	}
	config.CA, config.Cert, config.Key = onHost(flags["trusted-ca-file"]), onHost(flags["cert-file"]), onHost(flags["key-file"])
	if config.CA == "" || config.Cert == "" || config.Key == "" {
		return Config{}, errors.New("cannot find the CA, certificate or key in the static pod of etcd")
	}
	// kubeadm creates a certificate for clients. Without it, the certificate of the member usually
	// works.
	client := path.Join(path.Dir(config.CA), "healthcheck-client")
	if exists(client+".crt") && exists(client+".key") {
		config.Cert, config.Key = client+".crt", client+".key"
	}
	return config, nil
}

// nearest returns a URL on this host: loopback before others, and loopback for a member that
// listens on all addresses.
func nearest(list string) (string, error) {
	var first string
	for raw := range strings.SplitSeq(list, ",") {
		u, err := url.Parse(strings.TrimSpace(raw))
		if err != nil {
			return "", err
		}
		if (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
			return "", fmt.Errorf("%q is not a client URL", raw)
		}
		ip := net.ParseIP(u.Hostname())
		switch {
		case ip != nil && ip.IsUnspecified():
			loopback := "127.0.0.1"
			if ip.To4() == nil {
				loopback = "::1"
			}
			return u.Scheme + "://" + net.JoinHostPort(loopback, u.Port()), nil
		case u.Hostname() == "localhost" || (ip != nil && ip.IsLoopback()):
			return u.Scheme + "://" + u.Host, nil
		case first == "":
			first = u.Scheme + "://" + u.Host
		}
	}
	if first == "" {
		return "", errors.New("the list is empty")
	}
	return first, nil
}

func exists(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}
