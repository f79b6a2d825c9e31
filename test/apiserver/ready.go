package apiserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Deadlines are generous, for busy machines.
const (
	readyDeadline  = 2 * time.Minute
	settleDeadline = 30 * time.Second
	pollEvery      = 50 * time.Millisecond
)

// namespaces are those that the server creates by itself, shortly after it reports ready.
var namespaces = []string{corev1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease}

// waitReady waits until the server is usable, or one of its processes has exited.
func (s *Server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for _, p := range []*process{s.etcd, s.apiserver} {
		go func() {
			select {
			case <-p.done:
				cancel(fmt.Errorf("it ended: %w\n%s", p.err, p.tail()))
			case <-ctx.Done():
			}
		}()
	}
	client, err := kubernetes.NewForConfig(s.harness)
	if err != nil {
		return err
	}
	return poll(ctx, readyDeadline, "the server to be ready", func() error {
		if err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
			return err
		}
		for _, name := range namespaces {
			if _, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); err != nil {
				return err
			}
		}
		return nil
	})
}

// poll retries until try succeeds, and otherwise returns the last error.
func poll(ctx context.Context, deadline time.Duration, what string, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, errors.Join(context.Cause(ctx), err))
		case <-tick.C:
		}
	}
}
