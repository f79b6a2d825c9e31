package cluster

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func order(name string, sequence int64) *refitv1alpha1.NodeUpgrade {
	return &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: refitv1alpha1.NodeUpgradeSpec{Sequence: sequence}}
}

func TestSlowReceiverGetsTheLastEvent(t *testing.T) {
	box := newMailbox()
	orders, reports := &slot{kind: KindUpgrade, name: "n1", box: box}, &slot{kind: KindReport, name: "n1", box: box}
	ctx, cancel := context.WithCancel(t.Context())
	events, ended := make(chan Event), make(chan struct{})
	go func() {
		defer close(ended)
		box.deliver(ctx, events)
	}()
	must(t, orders.Replace([]any{order("n1", 1)}, "1"))
	must(t, reports.Replace(nil, "1"))
	for n := int64(2); n <= 1000; n++ {
		must(t, orders.Update(order("n1", n)))
	}
	must(t, orders.Update(order("n2", 5000))) // the API server never sends this
	var last int64
	var gone, taken int
	for last != 1000 || gone == 0 {
		select {
		case e := <-events:
			if taken++; e.Gone == KindReport {
				gone++
			}
			if e.Upgrade != nil {
				if e.Upgrade.Spec.Sequence < last {
					t.Errorf("after %d came %d", last, e.Upgrade.Spec.Sequence)
				}
				last = e.Upgrade.Spec.Sequence
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("the last event is %d", last)
		}
	}
	if taken > 3 {
		t.Errorf("got %d events", taken)
	}
	must(t, orders.Delete(order("n1", 1000)))
	if e := <-events; e.Gone != KindUpgrade {
		t.Errorf("after it was deleted: %+v", e)
	}
	select {
	case e := <-events:
		t.Errorf("unexpected event %+v", e)
	case <-time.After(20 * time.Millisecond):
	}
	cancel()
	<-ended
}

func TestFastReceiverGetsEveryChange(t *testing.T) {
	box := newMailbox()
	orders := &slot{kind: KindUpgrade, name: "n1", box: box}
	events := make(chan Event)
	go box.deliver(t.Context(), events)
	for n := int64(1); n <= 100; n++ {
		must(t, orders.Add(order("n1", n)))
		if e := <-events; e.Upgrade.Spec.Sequence != n {
			t.Fatalf("got %+v, want %d", e, n)
		}
	}
}

func TestFingerprintDetectsReplacedFiles(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a"), filepath.Join(dir, "current")
	must(t, os.WriteFile(file, []byte("1"), 0o600))
	must(t, os.Symlink(file, link))
	before := fingerprintOf(link, filepath.Join(dir, "absent"), "")
	if before.changed() {
		t.Error("nothing was replaced")
	}
	other := filepath.Join(dir, "b")
	must(t, os.WriteFile(other, []byte("1"), 0o600))
	must(t, os.Symlink(other, link+".new"))
	must(t, os.Rename(link+".new", link))
	if !before.changed() {
		t.Error("a link to another file of the same size is not detected")
	}
	before = fingerprintOf(link, filepath.Join(dir, "absent"))
	must(t, os.WriteFile(filepath.Join(dir, "absent"), nil, 0o600))
	if !before.changed() {
		t.Error("a new file is not detected")
	}
	before = fingerprintOf(link)
	must(t, os.Remove(other))
	if !before.changed() {
		t.Error("a removed file is not detected")
	}
}

func TestNodeName(t *testing.T) {
	for situation, tt := range map[string]struct {
		config rest.Config
		want   string
	}{
		"kubelet":            {certified(t, "system:node:n1"), "n1"},
		"user":               {certified(t, "jane"), ""},
		"only the prefix":    {certified(t, "system:node:"), ""},
		"no certificate":     {rest.Config{BearerToken: "x"}, ""},
		"no such file":       {rest.Config{TLSClientConfig: rest.TLSClientConfig{CertFile: "/nowhere"}}, ""},
		"no certificate yet": {rest.Config{TLSClientConfig: rest.TLSClientConfig{CertData: []byte("empty")}}, ""},
	} {
		if name, err := nodeName(&tt.config); name != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q (%v)", situation, name, err)
		}
	}
}

// certified returns a configuration whose file contains the key before the certificate.
func certified(t *testing.T, user string) rest.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: user}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")})
	text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	return rest.Config{TLSClientConfig: rest.TLSClientConfig{CertData: text}}
}
