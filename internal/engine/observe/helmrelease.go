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

// maxRelease limits the size of a decompressed release: a Secret has up to a megabyte of compressed
// data.
const maxRelease = 64 << 20

// storedRelease is the used part of a stored release. Its values, notes and templates are not
// decoded, and of its manifests only names are kept.
type storedRelease struct {
	chart   string
	objects []cluster.Object
}

// decodeRelease decodes a stored release: compressed JSON in base64. With an error it returns what
// it could decode.
func decodeRelease(data []byte) (storedRelease, error) {
	text, err := decompress(data)
	if err != nil {
		return storedRelease{}, fmt.Errorf("cannot decompress the stored release: %w", err)
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
		return storedRelease{}, fmt.Errorf("cannot decode the stored release: %w", err)
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
	if unread > 0 { // the cause may quote the document
		return out, fmt.Errorf("cannot parse %d documents of the manifest", unread)
	}
	return out, nil
}

func decompress(data []byte) ([]byte, error) {
	packed, err := base64.StdEncoding.DecodeString(string(data))
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(packed, []byte{0x1f, 0x8b}) { // Helm 2 does not compress
		return packed, nil
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(unpacked, maxRelease+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxRelease {
		return nil, fmt.Errorf("more than %d MiB", maxRelease>>20)
	}
	return text, nil
}

// manifestHead are the fields that identify an object, or the items of a List.
type manifestHead struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Items []manifestHead `json:"items"`
}

// objectsIn returns the objects of a manifest, and the number of unreadable documents.
func objectsIn(manifest string) (objects []cluster.Object, unread int) {
	for document := range documents(manifest) {
		var head manifestHead
		// Only the head is parsed first, since parsing all takes a second for a few megabytes.
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
