package crd

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/engine/crd/crdtest"
)

// actorOf returns an actor whose API server is a function.
func actorOf(t *testing.T, serve func(w http.ResponseWriter, r *http.Request)) *Actor {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(serve))
	t.Cleanup(server.Close)
	actor, err := NewActor(&rest.Config{Host: server.URL}, "refit")
	if err != nil {
		t.Fatal(err)
	}
	return actor
}

func respond(w http.ResponseWriter, code int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(value)
}

func widgets(next string, names ...string) map[string]any {
	items := []any{}
	for _, name := range names {
		items = append(items, map[string]any{"apiVersion": "corpus.example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name}})
	}
	return map[string]any{"apiVersion": "corpus.example.com/v1", "kind": "WidgetList", "metadata": map[string]any{"continue": next}, "items": items}
}

func TestAListContinuesAfterItsTokenHasExpired(t *testing.T) {
	actor := actorOf(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("continue") {
		case "":
			respond(w, http.StatusOK, widgets("first", "a", "b"))
		case "first":
			expired := apierrors.NewResourceExpired("too old").ErrStatus
			expired.Continue = "second"
			expired.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
			respond(w, http.StatusGone, expired)
		case "second":
			respond(w, http.StatusOK, widgets("", "c"))
		}
	})
	live := crdtest.New(schemaProps{Type: "object"})
	var names []string
	for object, err := range actor.Objects(t.Context(), live, "v1") {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, object.GetName())
	}
	if got := strings.Join(names, " "); got != "a b c" {
		t.Errorf("the objects are %q", got)
	}
}

func TestAListThatFailsEndsWithItsError(t *testing.T) {
	actor := actorOf(t, func(w http.ResponseWriter, _ *http.Request) {
		expired := apierrors.NewResourceExpired("too old").ErrStatus // without a token
		expired.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		respond(w, http.StatusGone, expired)
	})
	errs := 0
	for _, err := range actor.Objects(t.Context(), crdtest.New(schemaProps{Type: "object"}), "v1", "v2") {
		if err != nil {
			errs++
		}
	}
	if errs != 1 {
		t.Errorf("%d errors", errs)
	}
}

func TestPagesOfLargeObjectsAreSmall(t *testing.T) {
	for situation, tt := range map[string]struct {
		objects, bytes int
		want           int64
	}{
		"small objects":                {500, 500 << 10, 500},
		"after the first page":         {10, 10 << 10, 40},
		"objects of 100 KiB":           {40, 4000 << 10, 40},
		"objects of 1 MiB":             {10, 10 << 20, 4},
		"objects larger than the page": {1, 8 << 20, 1},
		"no objects":                   {0, 0, firstPage},
	} {
		if got := nextLimit(tt.objects, tt.bytes); got != tt.want {
			t.Errorf("%s: the next page has %d objects, want %d", situation, got, tt.want)
		}
	}
	text := map[string]any{"a": []any{strings.Repeat("x", 1000), int64(1), map[string]any{"b": true}}}
	if size := sizeOf(text); size < 1000 || size > 1100 {
		t.Errorf("the size is %d", size)
	}
}

// TestACRDIsServedWhenAllAPIServersServeIt has a second API server that learns the storage version
// later.
func TestACRDIsServedWhenAllAPIServersServeIt(t *testing.T) {
	live := change(t, "new-fields-are-within-the-old").New
	live.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue},
		{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
	}
	var reads, lagging atomic.Int64
	lagging.Store(3)
	discover := func(w http.ResponseWriter, storage string) {
		respond(w, http.StatusOK, metav1.APIResourceList{APIResources: []metav1.APIResource{
			{Name: live.Spec.Names.Plural, Kind: live.Spec.Names.Kind, StorageVersionHash: storageHash(live, storage)},
		}})
	}
	second := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reads.Add(1)
		if lagging.Add(-1) >= 0 {
			discover(w, "v1")
		} else {
			discover(w, StorageVersion(live))
		}
	}))
	defer second.Close()
	first := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.Contains(r.URL.Path, "/customresourcedefinitions/"):
			respond(w, http.StatusOK, live)
		case strings.HasSuffix(r.URL.Path, "/endpointslices"):
			respond(w, http.StatusOK, endpoints(t, second.Listener.Addr().String()))
		default:
			discover(w, StorageVersion(live))
		}
	}))
	defer first.Close()
	actor, err := NewActor(&rest.Config{Host: first.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, "refit")
	if err != nil {
		t.Fatal(err)
	}
	if err := actor.serve(t.Context(), live.Name); err != nil {
		t.Fatal(err)
	}
	if lagging.Load() >= 0 {
		t.Errorf("it is served after %d reads of the second API server", reads.Load())
	}
}

func endpoints(t *testing.T, address string) discoveryv1.EndpointSliceList {
	t.Helper()
	var port int32
	host, number, _ := strings.Cut(address, ":")
	if _, err := fmt.Sscan(number, &port); err != nil {
		t.Fatal(err)
	}
	return discoveryv1.EndpointSliceList{Items: []discoveryv1.EndpointSlice{{
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{host}}}, Ports: []discoveryv1.EndpointPort{{Port: &port}},
	}}}
}

func TestAVersionIsServedAsDefined(t *testing.T) {
	live := change(t, "new-fields-are-within-the-old").New
	served := func(name, storage string) *metav1.APIResourceList {
		return &metav1.APIResourceList{APIResources: []metav1.APIResource{{Name: name, StorageVersionHash: storageHash(live, storage)}}}
	}
	plural := live.Spec.Names.Plural
	off := live.Spec.Versions[0]
	off.Served = false
	for situation, tt := range map[string]struct {
		version   apiextensionsv1.CustomResourceDefinitionVersion
		resources *metav1.APIResourceList
		ok        bool
	}{
		"served":                              {live.Spec.Versions[0], served(plural, "v2"), true},
		"not served":                          {live.Spec.Versions[0], served("others", "v2"), false},
		"stored in the old version":           {live.Spec.Versions[0], served(plural, "v1"), false},
		"no longer served":                    {off, served("others", "v2"), true},
		"served although it is no longer":     {off, served(plural, "v2"), false},
		"no longer served, with its group":    {off, &metav1.APIResourceList{}, true},
		"served, but its group is missing":    {live.Spec.Versions[0], &metav1.APIResourceList{}, false},
		"another resource in another version": {live.Spec.Versions[1], served(plural+"/status", "v2"), false},
	} {
		if err := servedAs(live, &tt.version, tt.resources); (err == nil) != tt.ok {
			t.Errorf("%s: %v", situation, err)
		}
	}
}

func TestSavedCRDsAreStoredWithoutWhatTheServerSets(t *testing.T) {
	live := crdtest.New(schemaProps{Type: "object"})
	live.UID, live.Generation, live.Labels = "1", 7, map[string]string{"a": "b"}
	live.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "helm"}}
	actor := actorOf(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, live.Name) {
			respond(w, http.StatusOK, live)
			return
		}
		respond(w, http.StatusNotFound, apierrors.NewNotFound(apiextensionsv1.Resource("customresourcedefinitions"), "x").ErrStatus)
	})
	saved, err := actor.Save(t.Context(), live.Name, "absent.example.com")
	if err != nil {
		t.Fatal(err)
	}
	content, err := saved.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if saved, err = DecodeSaved(content); err != nil {
		t.Fatal(err)
	}
	added := crdtest.New(schemaProps{Type: "object"})
	added.Name = "absent.example.com"
	changes := saved.Changes(live, added)
	old := changes[0].Old
	if old == nil || old.UID != "1" || old.Labels["a"] != "b" || old.Status.StoredVersions[0] != "v1" || !equalSpecs(old, live) {
		t.Errorf("the saved CRD is %+v", old)
	}
	if old.Generation != 0 || old.ResourceVersion != "" || old.ManagedFields != nil || len(old.Status.Conditions) != 0 {
		t.Errorf("the saved CRD has %+v", old.ObjectMeta)
	}
	if changes[1].Old != nil || strings.Join(saved.Absent, " ") != "absent.example.com" {
		t.Errorf("the change of a new CRD is %+v", changes[1])
	}
	if _, err := DecodeSaved(content[:len(content)/2]); err == nil {
		t.Error("half of the saved CRDs can be read")
	}
}

func TestSavedCRDsFitIntoASecret(t *testing.T) {
	saved := &Saved{}
	noise := make([]byte, maxSavedBytes)
	if _, err := rand.NewChaCha8([32]byte{}).Read(noise); err != nil {
		t.Fatal(err)
	}
	live := crdtest.New(schemaProps{Type: "object", Description: fmt.Sprintf("%x", noise)})
	saved.Definitions = append(saved.Definitions, live)
	if _, err := saved.Encode(); !errors.Is(err, ErrSavedTooLarge) {
		t.Errorf("Encode() = %v", err)
	}
}

func TestALossNamesAFewFindings(t *testing.T) {
	report := &Report{}
	for i := range 100 {
		report.add(Finding{Severity: Block, Object: fmt.Sprintf("default/o%d", i), Field: fmt.Sprintf("spec.f%d", i), Message: "the new CRD drops it"})
	}
	text := (&LossError{Reports: map[string]*Report{"widgets.example.com": report}}).Error()
	if !strings.Contains(text, "widgets.example.com default/o0: ") || !strings.HasSuffix(text, "; and 90 more") || len(text) > 1000 {
		t.Errorf("the text is %q", text)
	}
}

func TestAnInjectedCAIsNotSaved(t *testing.T) {
	fields := metav1.NewFieldsV1
	ca := `"f:conversion":{"f:webhook":{"f:clientConfig":{"f:caBundle":{}}}}`
	for situation, tt := range map[string]struct {
		annotations map[string]string
		managers    []metav1.ManagedFieldsEntry
		saved       bool
	}{
		"of the chart":               {managers: []metav1.ManagedFieldsEntry{{Manager: "helm", FieldsV1: fields(`{"f:spec":{"f:versions":{},` + ca + `}}`)}}, saved: true},
		"without managers":           {saved: true},
		"injected by an annotation":  {annotations: map[string]string{"cert-manager.io/inject-ca-from": "a/b"}},
		"injected by its controller": {managers: []metav1.ManagedFieldsEntry{{Manager: "manager", FieldsV1: fields(`{"f:spec":{` + ca + `}}`)}}},
	} {
		live := change(t, "conversion-webhook").New.DeepCopy()
		live.Annotations, live.ManagedFields = tt.annotations, tt.managers
		clientConfigOf(live).CABundle = []byte("CA")
		if got := clientConfigOf(stripped(live)).CABundle; (len(got) > 0) != tt.saved {
			t.Errorf("%s: the saved CA is %q", situation, got)
		}
		if len(clientConfigOf(live).CABundle) == 0 {
			t.Errorf("%s: the live CRD was changed", situation)
		}
	}
}
