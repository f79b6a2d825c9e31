package observe

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// largestRelease bounds how far a stored release may unfold: a Secret holds a megabyte of it, compressed.
const largestRelease = 64 << 20

// storedRelease is what is kept of a stored release. Its values, notes and templates are not even decoded, and of its manifests only names are kept.
type storedRelease struct {
	chart   string
	objects []cluster.Object
}

// openRelease reads a release as Helm stores it: JSON, compressed, in base64. What could be read is returned also with an error.
func openRelease(data []byte) (storedRelease, error) {
	text, err := unfold(data)
	if err != nil {
		return storedRelease{}, fmt.Errorf("its stored release cannot be unpacked: %w", err)
	}
	var release struct {
		Manifest string `json:"manifest"`
		Hooks    []struct {
			Manifest string `json:"manifest"`
		} `json:"hooks"`
		Chart struct {
			Metadata struct {
				Name    string `json:"name"`
				Version string `json:"version"`
			} `json:"metadata"`
		} `json:"chart"`
	}
	if err := json.Unmarshal(text, &release); err != nil {
		return storedRelease{}, fmt.Errorf("its stored release cannot be decoded: %w", err)
	}
	out := storedRelease{chart: strings.Trim(release.Chart.Metadata.Name+"-"+release.Chart.Metadata.Version, "-")}
	manifests := []string{release.Manifest}
	for _, hook := range release.Hooks {
		manifests = append(manifests, hook.Manifest)
	}
	unread := 0
	for _, manifest := range manifests {
		objects, failed := objectsIn(manifest)
		out.objects = append(out.objects, objects...)
		unread += failed
	}
	if unread > 0 { // the reason may quote what is in the document
		return out, fmt.Errorf("%d documents of its manifest cannot be read", unread)
	}
	return out, nil
}

func unfold(data []byte) ([]byte, error) {
	packed, err := base64.StdEncoding.DecodeString(string(data))
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(packed, []byte{0x1f, 0x8b}) { // Helm 2 did not compress
		return packed, nil
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(unpacked, largestRelease+1))
	if err != nil {
		return nil, err
	}
	if len(text) > largestRelease {
		return nil, fmt.Errorf("it has more than %d MiB", largestRelease>>20)
	}
	return text, nil
}

// manifestHead is what names an object. A List has others in it.
type manifestHead struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Items []manifestHead `json:"items"`
}

// objectsIn names the objects of a manifest of many documents, and counts the documents that cannot be read.
func objectsIn(manifest string) (objects []cluster.Object, unread int) {
	for document := range documents(manifest) {
		var head manifestHead
		// To take all of it apart would cost a second for every few megabytes, so the head is tried first.
		err := yaml.Unmarshal([]byte(headOf(document)), &head)
		if err != nil || head.Kind == "" || strings.HasSuffix(head.Kind, "List") {
			head = manifestHead{}
			err = yaml.Unmarshal([]byte(document), &head)
		}
		if err != nil {
			unread++
			continue
		}
		objects = appendObjects(objects, head)
	}
	return objects, unread
}

func appendObjects(objects []cluster.Object, head manifestHead) []cluster.Object {
	if len(head.Items) > 0 {
		for _, item := range head.Items {
			objects = appendObjects(objects, item)
		}
		return objects
	}
	if head.Kind == "" { // only comments
		return objects
	}
	return append(objects, cluster.Object{
		APIVersion: head.APIVersion, Kind: head.Kind, Namespace: head.Metadata.Namespace, Name: head.Metadata.Name,
	})
}
