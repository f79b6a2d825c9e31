package sample

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"k8s.io/client-go/rest"
)

const (
	defaultInterval = 100 * time.Millisecond
	defaultTimeout  = 2 * time.Second
)

// DialFunc opens a connection from some place, such as the network namespace of a node. It must
// return when its context ends.
type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// Config is what to sample, and from where. The API is sampled if API is set, the Service if
// ServiceURL is set.
type Config struct {
	API       *rest.Config // for the control plane endpoint
	Namespace string       // of the ConfigMap that is read
	ConfigMap string

	ServiceURL string              // plain http URL of the workload's Service
	From       map[string]DialFunc // by node name, one stream each

	Interval time.Duration // between the samples of a stream; 100 ms when zero
	Timeout  time.Duration // after which a sample has failed; 2 s when zero
}

func (c Config) withDefaults() Config {
	c.Interval = cmp.Or(c.Interval, defaultInterval)
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	return c
}

func (c Config) validate() error {
	if c.API == nil && c.ServiceURL == "" {
		return errors.New("specify an API or a Service to sample")
	}
	if c.Interval < 0 || c.Timeout < 0 {
		return fmt.Errorf("interval %s and timeout %s must be positive", c.Interval, c.Timeout)
	}
	if c.API != nil && (c.Namespace == "" || c.ConfigMap == "") {
		return errors.New("sampling the API needs the namespace and name of a ConfigMap")
	}
	if (c.ServiceURL == "") != (len(c.From) == 0) {
		return errors.New("sampling a Service needs its URL and the nodes to sample it from")
	}
	for node, dial := range c.From {
		if dial == nil {
			return fmt.Errorf("no dialer for node %s", node)
		}
	}
	if c.ServiceURL != "" {
		return validServiceURL(c.ServiceURL)
	}
	return nil
}

func validServiceURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return fmt.Errorf("parse the Service URL: %w", err)
	}
	if u.Scheme != "http" || u.Host == "" {
		return fmt.Errorf("the Service URL must be http://HOST…, got scheme %q and host %q", u.Scheme, u.Host)
	}
	return nil
}
