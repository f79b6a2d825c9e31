//go:build apiserver

package install

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/install"
	"github.com/refit-dev/refit/test/apiserver"
)

const (
	recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
	another   = "age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg"
)

// A second install must not give backups to the recipients of the first one again.
func TestBackupsAreSetUpOnce(t *testing.T) {
	b := newBed(t, apiserver.Versions(t)[0])
	o := options()
	o.Stores = "recipients: [" + recipient + "]\nlocations: [/var/lib/refit-backups]\n"
	b.apply(t, o, false)
	changes, err := b.AddBackups(t.Context(), []string{recipient})
	must(t, err)
	if len(changes) != 2 || changes[0].Action != install.Created || changes[1].Action != install.Created {
		t.Fatalf("%+v", changes)
	}
	stores := b.objects.Resource(refitv1alpha1.GroupVersion.WithResource("backupstores"))
	local, err := stores.Get(t.Context(), "local", metav1.GetOptions{})
	must(t, err)
	must(t, unstructured.SetNestedStringSlice(local.Object, []string{another}, "spec", "recipients"))
	_, err = stores.Update(t.Context(), local, metav1.UpdateOptions{})
	must(t, err)

	b.apply(t, o, false)
	changes, err = b.AddBackups(t.Context(), []string{recipient})
	must(t, err)
	if changes[0].Action != install.Unchanged || changes[1].Action != install.Unchanged {
		t.Errorf("%+v", changes)
	}
	local, err = stores.Get(t.Context(), "local", metav1.GetOptions{})
	must(t, err)
	if got, _, _ := unstructured.NestedStringSlice(local.Object, "spec", "recipients"); len(got) != 1 || got[0] != another {
		t.Errorf("the recipients are %v", got)
	}
	existing, err := b.Existing(t.Context())
	must(t, err)
	if existing.Stores != o.Stores || len(existing.Keys) != 1 {
		t.Errorf("%+v", existing)
	}
}
