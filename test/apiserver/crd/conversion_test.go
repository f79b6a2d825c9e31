//go:build apiserver

package crd

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// annotationExtra is where the webhook keeps the field of v2 that v1 lacks.
const annotationExtra = "example.com/extra"

// webhook serves conversions on loopback.
func webhook(t *testing.T) (*apiextensionsv1.CustomResourceConversion, *httptest.Server) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(convertReview))
	t.Cleanup(server.Close)
	url := server.URL + "/convert"
	return &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1"},
			ClientConfig: &apiextensionsv1.WebhookClientConfig{
				URL: &url, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
		},
	}, server
}

func convertReview(w http.ResponseWriter, r *http.Request) {
	var review apiextensionsv1.ConversionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, raw := range review.Request.Objects {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(raw.Raw); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		convert(object, review.Request.DesiredAPIVersion)
		review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, runtime.RawExtension{Object: object})
	}
	review.Request = nil
	_ = json.NewEncoder(w).Encode(review)
}

// convert renames spec.text of v1 to spec.message of v2, which also has spec.extra.
func convert(object *unstructured.Unstructured, to string) {
	if object.GetAPIVersion() == to {
		return
	}
	spec, _ := object.Object["spec"].(map[string]any)
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	if strings.HasSuffix(to, "/v2") {
		move(spec, "text", "message")
		if extra, found := annotations[annotationExtra]; found {
			spec["extra"] = extra
			delete(annotations, annotationExtra)
		}
	} else {
		move(spec, "message", "text")
		if extra, found := spec["extra"]; found {
			annotations[annotationExtra] = fmt.Sprint(extra)
			delete(spec, "extra")
		}
	}
	if len(annotations) == 0 {
		annotations = nil
	}
	object.SetAnnotations(annotations)
	object.SetAPIVersion(to)
}

func move(fields map[string]any, from, to string) {
	if value, found := fields[from]; found {
		fields[to] = value
		delete(fields, from)
	}
}
