//go:build apiserver

package apiserver

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

func TestEveryRequestIsAuditedOnce(t *testing.T) {
	EachVersion(t, func(t *testing.T, version string) {
		s := sharedOf(t, version)
		config := s.As(t, "counted", mastersGroup)
		config.UserAgent = "counter/1"
		client := clientFor(t, config)
		const each, clients = 25, 8
		for round := 1; round <= 4; round++ { // a count that misses a late request would fail sooner or later
			var all sync.WaitGroup
			for range clients {
				all.Go(func() {
					for range each {
						if _, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{Limit: 1}); err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
			events := s.AuditOf(t, "counted")
			if len(events) != round*each*clients {
				t.Fatalf("%d requests were audited, %d were made", len(events), round*each*clients)
			}
			e := events[len(events)-1]
			if e.Code != http.StatusOK || e.Verb != "list" || e.UserAgent != "counter/1" || e.URI != "/api/v1/nodes?limit=1" || e.At.IsZero() {
				t.Fatalf("the last one is %+v", e)
			}
		}
		for _, e := range s.Audit(t) {
			if e.User == harnessUser {
				t.Fatalf("the harness's own requests are audited: %+v", e)
			}
		}
	})
}

func TestRefusedAndOpenRequestsAreAudited(t *testing.T) {
	s := sharedOf(t, Versions(t)[0])
	client := clientFor(t, s.As(t, "curious"))
	_, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err == nil {
		t.Fatal("an ordinary user lists nodes")
	}
	must(t, client.Discovery().RESTClient().Get().AbsPath("/version").Do(t.Context()).Error())
	watcher := clientFor(t, s.As(t, "watcher", mastersGroup))
	watch, err := watcher.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{})
	must(t, err)
	defer watch.Stop()

	var got []string
	for _, user := range []string{"curious", "watcher"} {
		for _, e := range s.AuditOf(t, user) {
			got = append(got, e.Verb+" "+e.URI+" "+http.StatusText(e.Code))
		}
	}
	want := "list /api/v1/nodes Forbidden, get /version OK, watch /api/v1/nodes?watch=true OK"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}

	stranger := &rest.Config{Host: s.RESTConfig().Host, QPS: -1, BearerToken: "x"}
	stranger.CAData = s.RESTConfig().CAData
	if _, err := clientFor(t, stranger).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: "stranger"}); err == nil {
		t.Error("a stranger lists nodes")
	}
	var refused int
	for _, e := range s.AuditOf(t, "") {
		if e.Code == http.StatusUnauthorized && strings.Contains(e.URI, "stranger") {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%d requests of the stranger were audited", refused)
	}
}

func TestTheRequestsOfAnotherProcessAreCounted(t *testing.T) {
	s := sharedOf(t, Versions(t)[0])
	kubeconfig := s.Kubeconfig(t, s.As(t, "outsider", mastersGroup))
	kubectl(t, s, kubeconfig, "get", "--raw", "/version")
	events := s.AuditOf(t, "outsider")
	if len(events) != 1 || events[0].URI != "/version" || !strings.HasPrefix(events[0].UserAgent, "kubectl/") {
		t.Errorf("got %+v", events)
	}
}
